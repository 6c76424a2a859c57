package middleware_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// queueing is a store of holds that tells when a request waits.
type queueing struct {
	pathlock.Store
	queued chan struct{}
}

func (s queueing) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	told := a.Waiting
	a.Waiting = func() {
		told()
		select {
		case s.queued <- struct{}{}:
		default:
		}
	}
	return s.Store.Acquire(ctx, a)
}

// Two requests with one token that rename the node one after the other, whatever the second has
// seen of the first: the hold is where the node is, and on nothing that it needs no longer.
func TestRequestsWithOneTokenMoveOneAfterTheOther(t *testing.T) {
	for _, fixtureOf := range []func(*testing.T, pathlock.Store, middleware.Config) *fixture{newFixture, newAssertedFixture} {
		for what, early := range map[string]bool{"the second looks before the first moves": true, "the second looks after the first has moved": false} {
			store := queueing{memstore.New(), make(chan struct{}, 1)}
			f := fixtureOf(t, store, middleware.Config{})
			mine := f.detached(plan, "/dir1/dir2")
			// The node is no longer where the hold was taken: the second would see it at a path at
			// which the hold has nothing.
			f.handler = func(c *gin.Context) { f.nodes.move("3", "/dir1/before"); c.Status(http.StatusNoContent) }
			f.is(what+", before", f.send("PATCH", "/suites/3", `{"name":"before"}`, token(mine)...), http.StatusNoContent, "")
			firstIsIn, firstIsOver := make(chan struct{}), make(chan struct{})
			secondIsIn, secondIsOver := make(chan struct{}), make(chan struct{})
			f.handler = func(c *gin.Context) {
				switch {
				case c.GetHeader("X-Turn") == "second":
					close(secondIsIn)
					if early {
						<-firstIsOver
					}
					if got := f.held(); !slices.Contains(got, "X /dir1/first") {
						t.Errorf("%s: the node is not locked where it is: %v", what, got)
					}
					f.nodes.move("3", "/dir1/second")
				case early:
					close(firstIsIn)
					select {
					case <-store.queued:
					case <-secondIsIn:
					}
					f.nodes.move("3", "/dir1/first")
				default:
					f.nodes.move("3", "/dir1/first")
					close(firstIsIn)
					select {
					case <-store.queued:
					case <-secondIsOver:
					}
				}
				c.Status(http.StatusNoContent)
			}
			send := func(turn string, over chan struct{}) {
				defer close(over)
				f.is(what+", "+turn, f.send("PATCH", "/suites/3", `{"name":"`+turn+`"}`, append(token(mine), "X-Turn", turn)...), http.StatusNoContent, "")
			}
			var group sync.WaitGroup
			group.Go(func() { send("first", firstIsOver) })
			<-firstIsIn
			send("second", secondIsOver)
			group.Wait()
			f.handler = func(c *gin.Context) { c.Status(http.StatusNoContent) }
			others := pathlock.Request{Tree: plan, Claims: claim("/dir1/second"), Wait: pathlock.NoWait}
			if _, err := f.locker.Acquire(t.Context(), others); !errors.Is(err, pathlock.ErrConflict) {
				t.Errorf("%s: others are kept out by %v", what, err)
			}
			f.is(what+", the holder", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
			f.only(what, "X /dir1/dir2", "X /dir1/second")
		}
	}
}

// A request that may not wait for its turn is refused, and told for whom it would wait. Those that
// move nothing have no turns.
func TestWhoMovesAtTheSameTimeIsRefused(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	mine := f.detached(plan, "/dir1/dir2")
	again := func(method, body string) (int, string) {
		w := f.send(method, "/suites/3", body, append(token(mine), "X-Turn", "second")...)
		return w.Code, w.Body.String()
	}
	f.handler = func(c *gin.Context) {
		c.Status(http.StatusNoContent)
		if c.GetHeader("X-Turn") != "" {
			return
		}
		for _, name := range []string{"second", "dir2"} { // one is the name that the node still has
			status, body := again("PATCH", `{"name":"`+name+`"}`)
			if status != http.StatusLocked || !strings.Contains(body, "same lock token") || strings.Contains(body, `"path"`) {
				t.Errorf("a rename to %s: %d %s", name, status, body)
			}
		}
		if status, body := again("DELETE", ""); status != http.StatusNoContent {
			t.Errorf("a deletion: %d %s", status, body)
		}
		f.nodes.move("3", "/dir1/first")
	}
	f.is("the first", f.send("PATCH", "/suites/3", `{"name":"first"}`, token(mine)...), http.StatusNoContent, "")
	f.only("after both", "X /dir1/dir2", "X /dir1/first")
	if status, body := again("PATCH", `{"name":"dir2"}`); status != http.StatusNoContent {
		t.Errorf("once the first is over: %d %s", status, body)
	}
}

// turns is the tree of the turns under the tokens of the plan.
var turns = func() pathlock.Tree {
	tree, err := pathlock.NewTree("lock-tokens", plan.ID())
	if err != nil {
		panic(err)
	}
	return tree
}()

// A request that has lost its turn has lost its locks: another one may move nodes by now.
func TestALostTurnEndsItsRequest(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	mine := f.detached(plan, "/dir1/dir2")
	f.handler = func(c *gin.Context) {
		snapshot, err := f.locker.Snapshot(c, turns)
		if err != nil || len(snapshot.Holders) != 1 || strings.Contains(snapshot.Holders[0].Claims[1].Path.String(), string(mine)) {
			t.Fatalf("the turns are %v, %v", snapshot.Holders, err)
		}
		if err := f.locker.ForceRelease(c, turns, snapshot.Holders[0].Owner); err != nil {
			t.Error(err)
		}
		ctx := c.Request.Context()
		<-ctx.Done()
		middleware.New(f.locker, f.nodes, middleware.Config{}).Fail(c, ctx.Err())
	}
	f.is("the rename", f.send("PATCH", "/suites/3", `{"name":"new"}`, token(mine)...), http.StatusServiceUnavailable, "lock-store-unavailable")
	f.only("afterwards", "X /dir1/dir2")
}

// A request that turns out to move a node only when it has attached the hold attaches it again, in
// its turn.
func TestARequestMayNeedItsTurnLate(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	elsewhere, err := pathlock.NewTree("testplan", "2")
	if err != nil {
		t.Fatal(err)
	}
	mine := f.detached(plan, "/dir1/dir2")
	looks := 0
	locks := middleware.New(f.locker, pathlock.ResolverFunc(func(ctx context.Context, id string) (pathlock.Location, error) {
		at, err := f.nodes.Resolve(ctx, id)
		if looks++; looks == 1 {
			at.Tree = elsewhere
		}
		return at, err
	}), middleware.Config{Wait: pathlock.NoWait})
	f.engine.POST("/late/:id", locks.Lock(lockspec.Move(lockspec.Param("id"), lockspec.Const("4"))), func(c *gin.Context) { f.handler(c) })
	hasTurn := func(string) {
		if snapshot, err := f.locker.Snapshot(t.Context(), turns); err != nil || len(snapshot.Holders) != 1 {
			t.Errorf("the turns are %v, %v", snapshot.Holders, err)
		}
	}
	f.handler = func(c *gin.Context) {
		hasTurn("")
		f.nodes.move("3", "/other/dir2")
		f.nodes.after = hasTurn // when the hold follows
		c.Status(http.StatusNoContent)
	}
	f.is("the move", f.send("POST", "/late/3", "", token(mine)...), http.StatusNoContent, "")
	f.only("afterwards", "X /dir1/dir2", "X /other/dir2")
	if err := f.locker.ReleaseToken(t.Context(), mine); err != nil {
		t.Error(err)
	}
	f.nothingLeft()
}
