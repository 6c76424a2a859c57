package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// detached makes a hold that outlives its process.
func (f *fixture) detached(tree pathlock.Tree, path string) pathlock.Token {
	f.Helper()
	lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: tree, Claims: claim(path), Lease: time.Hour, Note: "anna edits"})
	if err != nil {
		f.Fatal(err)
	}
	token, err := lock.Detach()
	if err != nil {
		f.Fatal(err)
	}
	return token
}

// only checks that nothing but the paths is held in the plan.
func (f *fixture) only(what string, paths ...string) {
	f.Helper()
	if err := f.locker.Shutdown(context.Background()); err != nil {
		f.Error(err)
	}
	held := f.held()
	slices.Sort(held)
	if !slices.Equal(slices.Compact(held), paths) {
		f.Errorf("%s: held %v, want %v", what, held, paths)
	}
}

// is checks the status of an answer, and what the type of a problem ends in.
func (f *fixture) is(what string, w *httptest.ResponseRecorder, status int, kind string) {
	f.Helper()
	if w.Code != status {
		f.Errorf("%s: answer %d, want %d: %s", what, w.Code, status, w.Body)
		return
	}
	if kind == "" {
		return
	}
	if got, _ := f.problem(w)["type"].(string); got != middleware.ProblemType+kind {
		f.Errorf("%s: type %q, want %q", what, got, kind)
	}
}

// token is the header of a request that carries a token.
func token(t pathlock.Token) []string { return []string{middleware.TokenHeader, string(t)} }

func TestAHoldersRequestsPassAndOthersAreToldTheHolder(t *testing.T) {
	for _, fixtureOf := range []func(*testing.T, pathlock.Store, middleware.Config) *fixture{newFixture, newAssertedFixture} {
		f := fixtureOf(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
		before := time.Now()
		mine := f.detached(plan, "/dir1")

		w := f.send("DELETE", "/suites/3", "")
		f.is("without a token", w, http.StatusLocked, "locked")
		holder, _ := f.problem(w)["holder"].(map[string]any)
		since, _ := time.Parse(time.RFC3339, fmt.Sprint(holder["since"]))
		until, _ := time.Parse(time.RFC3339, fmt.Sprint(holder["until"]))
		if holder["what"] != "anna edits" || holder["detached"] != true || since.Before(before.Add(-time.Second)) || until.Sub(before).Round(time.Minute) != time.Hour {
			t.Errorf("the holder is %v", holder)
		}

		f.handler = func(c *gin.Context) {
			for _, ctx := range []context.Context{c, c.Request.Context()} {
				again, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2"), Wait: pathlock.NoWait})
				if err != nil {
					t.Errorf("the handler does not find the locks: %v", err)
					continue
				}
				_ = again.Release(ctx)
			}
			c.Status(http.StatusNoContent)
		}
		f.is("inside", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
		f.is("the node itself", f.send("DELETE", "/suites/2", "", token(mine)...), http.StatusNoContent, "")
		f.is("around", f.send("PUT", "/plans/1", "", token(mine)...), http.StatusNoContent, "")
		f.handler = func(c *gin.Context) {
			if got, want := f.held(), []string{"X /dir1", "X /other"}; !slices.Equal(got, want) {
				t.Errorf("held %v, want %v", got, want)
			}
			c.Status(http.StatusNoContent)
		}
		f.is("elsewhere", f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusNoContent, "")
		f.only("after the requests", "X /dir1")
		f.is("still without a token", f.send("DELETE", "/suites/3", ""), http.StatusLocked, "locked")
	}
}

func TestTokens(t *testing.T) {
	elsewhere, err := pathlock.NewTree("testplan", "2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		request string
		header  func(f *fixture) []string
		status  int
		problem string
	}{
		{"none", middleware.Config{}, "DELETE /suites/4", func(*fixture) []string { return nil }, 204, ""},
		{"an empty one", middleware.Config{}, "DELETE /suites/4", func(*fixture) []string { return token("") }, 204, ""},
		{"malformed", middleware.Config{}, "DELETE /suites/4", func(*fixture) []string { return token("nonsense") }, 400, "invalid-request"},
		{"malformed, of a node that does not exist", middleware.Config{}, "DELETE /suites/99", func(*fixture) []string { return token("a.b.c") }, 400, "invalid-request"},
		{"two", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string {
			return token(f.detached(plan, "/dir1") + ", " + f.detached(plan, "/x"))
		}, 400, "invalid-request"},
		{"malformed, on a route that locks nothing", middleware.Config{}, "POST /none", func(*fixture) []string { return token("nonsense") }, 204, ""},
		{"malformed, and switched off", middleware.Config{Token: middleware.NoToken}, "DELETE /suites/4", func(*fixture) []string { return token("nonsense") }, 204, ""},
		{"in another place", middleware.Config{Token: func(r *http.Request) pathlock.Token { return pathlock.Token(r.Header.Get("If")) }}, "DELETE /suites/4",
			func(f *fixture) []string { return []string{"If", string(f.detached(plan, "/other"))} }, 204, ""},
		{"of another tree", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string { return token(f.detached(elsewhere, "/other")) }, 204, ""},
		{"ended, of another tree", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string { return token(f.released(elsewhere)) }, 204, ""},
		{"ended", middleware.Config{}, "DELETE /suites/4", func(f *fixture) []string { return token(f.released(plan)) }, 409, "lock-lost"},
		{"ended, of a node that does not exist", middleware.Config{}, "DELETE /suites/99", func(f *fixture) []string { return token(f.released(plan)) }, 404, "not-found"},
		{"live, of a node that others hold", middleware.Config{Wait: pathlock.NoWait}, "DELETE /suites/4", func(f *fixture) []string {
			f.detached(plan, "/other")
			return token(f.detached(plan, "/dir1"))
		}, 423, "locked"},
		{"no authorization", middleware.Config{Authorize: func(*gin.Context, []lockspec.Node) error {
			return middleware.NewProblem(http.StatusForbidden, "forbidden", "no")
		}}, "DELETE /suites/4", func(f *fixture) []string { return token(f.released(plan)) }, 403, "forbidden"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), tt.config)
			called := false
			f.handler = func(c *gin.Context) {
				called = true
				c.Status(http.StatusNoContent)
			}
			method, path, _ := strings.Cut(tt.request, " ")
			f.is(tt.what, f.send(method, path, "", tt.header(f)...), tt.status, tt.problem)
			if called != (tt.status == http.StatusNoContent) {
				t.Errorf("the handler was called: %v", called)
			}
		})
	}
}

// released is a token whose hold has ended.
func (f *fixture) released(tree pathlock.Tree) pathlock.Token {
	f.Helper()
	token := f.detached(tree, "/ended")
	if err := f.locker.ReleaseToken(f.Context(), token); err != nil {
		f.Fatal(err)
	}
	return token
}

// A hold that ends while the request waits, by its lease or by force, ends the request.
func TestAHoldThatEndsWhileTheRequestWaitsIs409(t *testing.T) {
	for what, end := range map[string]func(f *fixture, token pathlock.Token){
		"by its lease": func(f *fixture, token pathlock.Token) {
			if _, err := f.locker.Refresh(f.Context(), token, pathlock.MinLease); err != nil {
				f.Error(err)
			}
		},
		"by force": func(f *fixture, token pathlock.Token) {
			if err := f.locker.ReleaseToken(f.Context(), token); err != nil {
				f.Error(err)
			}
		},
	} {
		store := queued{memstore.New(), make(chan struct{}, 1)}
		f := newFixture(t, store, middleware.Config{Wait: time.Minute})
		f.handler = func(*gin.Context) { t.Error("the handler was called") }
		mine := f.detached(plan, "/dir1")
		other, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim("/other")})
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		group.Go(func() {
			f.is(what, f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusConflict, "lock-lost")
		})
		<-store.waits
		end(f, mine)
		group.Wait()
		if err := other.Release(t.Context()); err != nil {
			t.Error(err)
		}
		f.nothingLeft()
	}
}

// queued tells when a request waits, and is otherwise the store that it is.
type queued struct {
	*memstore.Store
	waits chan struct{}
}

func (s queued) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	told := a.Waiting
	a.Waiting = func() {
		told()
		s.waits <- struct{}{}
	}
	return s.Store.Acquire(ctx, a)
}

// Whatever ends a request, its hold stays as it is, and nothing else does.
func TestTheHoldOutlivesTheRequestHoweverThatEnds(t *testing.T) {
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		handler func(f *fixture, c *gin.Context)
		status  int
	}{
		{"an answer", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
		{"a failure", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusTeapot) }, 418},
		{"a panic", middleware.Config{}, func(*fixture, *gin.Context) { panic("in the handler") }, 500},
		{"held for too long", middleware.Config{MaxHold: time.Millisecond}, func(f *fixture, c *gin.Context) {
			<-c.Request.Context().Done()
			// The context ends before the store is told: what the request had is free once somebody else gets it.
			other, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: plan, Claims: claim("/other")})
			if err != nil {
				f.Error(err)
				return
			}
			_ = other.Release(f.Context())
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, context.Cause(c.Request.Context()))
		}, 503},
		{"the client went away", middleware.Config{}, func(f *fixture, c *gin.Context) {
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, middleware.ErrClientGone)
		}, 499},
		{"a lock that nobody lets go", middleware.Config{}, func(f *fixture, c *gin.Context) {
			if _, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2")}); err != nil {
				f.Error(err)
			}
			c.Status(http.StatusNoContent)
		}, 204},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) { tt.handler(f, c) }
		for _, path := range []string{"/suites/3", "/suites/4"} {
			w := httptest.NewRecorder()
			func() {
				defer func() {
					if recover() != nil {
						w.Code = http.StatusInternalServerError
					}
				}()
				w = f.send("DELETE", path, "", token(mine)...)
			}()
			f.is(tt.what, w, tt.status, "")
			f.only(tt.what, "X /dir1")
		}
		if err := f.locker.ReleaseToken(t.Context(), mine); err != nil {
			t.Errorf("%s: the hold is not the token's: %v", tt.what, err)
		}
		f.nothingLeft()
	}
}

// Nobody renews a hold because its holder sends requests.
func TestARequestDoesNotMakeItsHoldLastLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, memstore.New(), middleware.Config{MaxHold: -1})
		mine := f.detached(plan, "/dir1")
		start := time.Now()
		f.handler = func(c *gin.Context) {
			select {
			case <-c.Request.Context().Done():
			case <-time.After(2 * time.Hour):
			}
			if held := time.Since(start); held < time.Hour-time.Minute || held > time.Hour {
				t.Errorf("the handler's context ends after %v", held)
			}
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, c.Request.Context().Err())
		}
		f.is("when the hold ends", f.send("DELETE", "/suites/3", "", token(mine)...), http.StatusConflict, "lock-lost")
		f.nothingLeft()
	})
}

// An instance that is killed in the middle of a request takes with it, within one lease, all that
// the request has locked besides the hold, and nothing of the hold.
func TestTheHoldOutlivesAnInstanceThatIsKilledAndItsRequestDoesNot(t *testing.T) {
	for _, request := range []string{"DELETE /suites/4", "PUT /plans/1"} { // a node, and the gate
		synctest.Test(t, func(t *testing.T) {
			store := memstore.New()
			instance := &killed{Store: store}
			f := newFixture(t, instance, middleware.Config{Wait: pathlock.NoWait, MaxHold: -1})
			survivor := newFixture(t, store, middleware.Config{Wait: pathlock.NoWait})
			mine := survivor.detached(plan, "/dir1")
			entered, end := make(chan struct{}), make(chan struct{})
			f.handler = func(*gin.Context) {
				close(entered)
				<-end
			}
			var group sync.WaitGroup
			method, path, _ := strings.Cut(request, " ")
			group.Go(func() { f.send(method, path, "", token(mine)...) })
			<-entered
			time.Sleep(10 * time.Minute) // the request is long, and lives
			survivor.is(request, survivor.send("DELETE", "/suites/4", ""), http.StatusLocked, "locked")
			instance.dead.Store(true)
			time.Sleep(pathlock.DefaultLease)
			survivor.is(request+", others", survivor.send("DELETE", "/suites/4", ""), http.StatusNoContent, "")
			survivor.is(request+", others", survivor.send("DELETE", "/suites/3", ""), http.StatusLocked, "locked")
			survivor.is(request+", the holder", survivor.send("DELETE", "/suites/3", "", token(mine)...), http.StatusNoContent, "")
			survivor.only(request, "X /dir1")
			close(end)
			group.Wait()
			instance.dead.Store(false)
			f.only(request, "X /dir1")
		})
	}
}

// killed is the store of an instance that it hears nothing of once that is dead.
type killed struct {
	*memstore.Store
	dead atomic.Bool
}

func (s *killed) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if s.dead.Load() {
		return nil, pathlock.ErrUnavailable
	}
	return s.Store.Renew(ctx, tree, leases)
}

func (s *killed) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if s.dead.Load() {
		return pathlock.ErrUnavailable
	}
	return s.Store.Release(ctx, tree, owner, id)
}

// A hold that ends by the clock is the holder's loss wherever the request is: at its start, where it
// locks besides the hold, or in its handler.
func TestAHoldThatEndsByTheClockIs409(t *testing.T) {
	for _, left := range []time.Duration{1, pathlock.MinLease, 2*pathlock.MinLease - 1, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			mine := f.detached(plan, "/dir1")
			f.handler = func(c *gin.Context) {
				time.Sleep(left)
				_, err := f.locker.Acquire(f.locker.Scope(c.Request.Context()).Context(context.Background()),
					pathlock.Request{Tree: plan, Claims: claim("/x"), Wait: pathlock.NoWait})
				middleware.New(f.locker, nil, middleware.Config{}).Fail(c, err)
			}
			time.Sleep(time.Hour - left)
			what := left.String() + " before the end"
			f.is(what, f.send("DELETE", "/suites/4", "", token(mine)...), http.StatusConflict, "lock-lost")
			time.Sleep(left)
			f.nothingLeft()
		})
	}
}

// The end of the hold ends the handler's context, and what it says of that is 409.
func TestAHoldThatEndsUnderTheHandlerIs409(t *testing.T) {
	for _, tt := range []struct {
		what    string
		err     func(ctx context.Context) error
		status  int
		problem string
	}{
		{"the cause", context.Cause, 409, "lock-lost"},
		{"the context's error", context.Context.Err, 409, "lock-lost"},
		{"what a driver says", func(context.Context) error { return errors.New("interrupted") }, 409, "lock-lost"},
		{"the outcome is unknown", func(context.Context) error { return pathlock.FailureOutcomeUnknown.New("hm") }, 503, "outcome-unknown"},
		{"something else is wrong", func(context.Context) error { return pathlock.ErrNotFound }, 404, "not-found"},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) {
			ctx := c.Request.Context()
			if _, err := f.locker.Refresh(ctx, mine, pathlock.MinLease); err != nil {
				t.Error(err)
			}
			again, err := f.locker.Attach(ctx, mine, pathlock.WithoutRenewal())
			if err == nil {
				<-again.Context().Done()
			}
			if err := f.locker.ReleaseToken(context.Background(), mine); err != nil && !errors.Is(err, pathlock.ErrLost) {
				t.Error(err)
			}
			// An acquisition asks the store, which says that the hold is no more.
			if _, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan, Claims: claim("/x"), Wait: pathlock.NoWait}); err == nil {
				t.Error("the hold has ended, and something was acquired under it")
			}
			<-ctx.Done()
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, tt.err(ctx))
		}
		f.is(tt.what, f.send("DELETE", "/suites/3", "", token(mine)...), tt.status, tt.problem)
		f.nothingLeft()
	}
}

// Two requests with one token are one owner. What the one takes beside the hold, and gives back,
// the other does not take for its own.
func TestTwoRequestsWithOneTokenPassAtOnce(t *testing.T) {
	for id, want := range map[string]string{"3": "X /dir1", "4": "X /other"} {
		f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
		mine := f.detached(plan, "/dir1")
		firstIsIn, secondIsIn, firstIsOver := make(chan struct{}), make(chan struct{}), make(chan struct{})
		f.handler = func(c *gin.Context) {
			if c.GetHeader("X-Turn") == "first" {
				close(firstIsIn)
				<-secondIsIn
			} else {
				close(secondIsIn)
				<-firstIsOver
				if got := f.held(); !slices.Contains(got, want) {
					t.Errorf("suite %s: once the first is over, the second holds %v", id, got)
				}
			}
			c.Status(http.StatusNoContent)
		}
		send := func(turn string) {
			f.is(turn, f.send("DELETE", "/suites/"+id, "", append(token(mine), "X-Turn", turn)...), http.StatusNoContent, "")
		}
		var group sync.WaitGroup
		group.Go(func() {
			defer close(firstIsOver)
			send("first")
		})
		<-firstIsIn
		send("second")
		group.Wait()
		f.only("after both", "X /dir1")
	}
}

// Several trees are taken by the one owner; the hold of the one stays, and the other is let go.
func TestATokenIsUsedAmongSeveralTrees(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
	names, err := pathlock.NewTree("project", "p")
	if err != nil {
		t.Fatal(err)
	}
	mine := f.detached(plan, "/dir1")
	f.is("without a token", f.send("PUT", "/plans/7", ""), http.StatusLocked, "locked")
	f.handler = func(c *gin.Context) {
		for _, tree := range []pathlock.Tree{names, plan} {
			again, err := f.locker.Acquire(c, pathlock.Request{Tree: tree, Gate: true, Wait: pathlock.NoWait})
			if err != nil {
				t.Errorf("the handler does not hold the gate of %s: %v", tree, err)
				continue
			}
			_ = again.Release(c)
		}
		c.Status(http.StatusNoContent)
	}
	f.is("with it", f.send("PUT", "/plans/7", "", token(mine)...), http.StatusNoContent, "")
	f.only("afterwards", "X /dir1")
	if snapshot, err := f.locker.Snapshot(t.Context(), names); err != nil || len(snapshot.Holders) > 0 {
		t.Errorf("the names are held still: %v, %v", snapshot.Holders, err)
	}
}

// A node that moves while it is locked is locked where it is, under the hold all the same; also
// where it comes into the hold's tree only then.
func TestATokenOutlastsRetries(t *testing.T) {
	elsewhere, err := pathlock.NewTree("testplan", "2")
	if err != nil {
		t.Fatal(err)
	}
	inside, beside := pathlock.MustParsePath("/dir1/dir2"), pathlock.MustParsePath("/beside")
	for what, found := range map[string][2]pathlock.Location{
		"into the hold":                     {{Tree: plan, Path: beside}, {Tree: plan, Path: inside}},
		"out of the hold":                   {{Tree: plan, Path: inside}, {Tree: plan, Path: beside}},
		"within the hold":                   {{Tree: plan, Path: inside.Parent()}, {Tree: plan, Path: inside}},
		"from another tree":                 {{Tree: elsewhere, Path: beside}, {Tree: plan, Path: inside}},
		"from another tree beside the hold": {{Tree: elsewhere, Path: inside}, {Tree: plan, Path: beside}},
	} {
		f := newFixture(t, memstore.New(), middleware.Config{Wait: pathlock.NoWait})
		mine := f.detached(plan, "/dir1")
		looks := 0
		locks := middleware.New(f.locker, pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
			looks++
			return found[min(looks, 2)-1], nil
		}), middleware.Config{Wait: pathlock.NoWait})
		f.engine.DELETE("/moving/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
			again, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2"), Wait: pathlock.NoWait})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				return
			}
			_ = again.Release(c)
			c.Status(http.StatusNoContent)
		})
		f.is(what, f.send("DELETE", "/moving/3", "", token(mine)...), http.StatusNoContent, "")
		f.only(what, "X /dir1")
		if snapshot, err := f.locker.Snapshot(t.Context(), elsewhere); err != nil || len(snapshot.Holders) > 0 {
			t.Errorf("%s: the other tree is held still: %v, %v", what, snapshot.Holders, err)
		}
	}
}

// Specs within specs share the hold that the outer one has attached; what the outer one has no use
// for is refused.
func TestATokenAndNestedSpecs(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	mine := f.detached(plan, "/dir1")
	locks := middleware.New(f.locker, f.nodes, middleware.Config{Wait: pathlock.NoWait})
	again := func(c *gin.Context) {
		lock, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1"), Wait: pathlock.NoWait})
		if err != nil {
			t.Errorf("the hold is not carried: %v", err)
			return
		}
		_ = lock.Release(c)
		c.Next()
	}
	inner := locks.Lock(lockspec.Delete(lockspec.Param("id")))
	f.engine.POST("/inside/:id", locks.Lock(lockspec.Delete(lockspec.Const("2"))), again, inner, again, func(c *gin.Context) { c.Status(http.StatusNoContent) })
	f.engine.POST("/names/:id", locks.Lock(lockspec.Names("project", lockspec.Const("p"))), inner, func(c *gin.Context) { c.Status(http.StatusNoContent) })
	f.is("both in the tree", f.send("POST", "/inside/3", "", token(mine)...), http.StatusNoContent, "")
	f.is("the inner one alone", f.send("POST", "/names/3", "", token(mine)...), http.StatusInternalServerError, "internal")
	f.only("afterwards", "X /dir1")
}

// Whoever reads logs, errors and answers cannot use the hold.
func TestATokenIsShownNowhere(t *testing.T) {
	var logged bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(guarded{&mu, &logged}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.locker = pathlock.New(memstore.New(), pathlock.WithLogger(log), pathlock.WithWait(pathlock.NoWait))
	locks := middleware.New(f.locker, f.nodes, middleware.Config{Log: log})
	engine := gin.New()
	var said strings.Builder
	engine.Use(func(c *gin.Context) {
		c.Next()
		said.WriteString(c.Errors.String())
	})
	handle := func(c *gin.Context) {
		switch c.Query("end") {
		case "lost":
			if err := f.locker.ForceRelease(c, plan, f.locker.Scope(c.Request.Context()).Owner()); err != nil {
				t.Error(err)
			}
			_, err := f.locker.Acquire(c.Request.Context(), pathlock.Request{Tree: plan, Claims: claim("/x")})
			locks.Fail(c, err)
		case "internal":
			locks.Fail(c, errors.New("hm"))
		}
	}
	engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), handle)
	f.engine = engine
	mine := f.detached(plan, "/dir1")
	for _, request := range []struct {
		path   string
		header pathlock.Token
		status int
	}{
		{"/suites/3", "", 423},
		{"/suites/3", mine, 200},
		{"/suites/3", mine + ".x", 400},
		{"/suites/3", "x" + mine, 400},
		{"/suites/99", mine, 404},
		{"/suites/3?end=internal", mine, 500},
		{"/suites/3?end=lost", mine, 409},
		{"/suites/3", mine, 409},
	} {
		w := f.send("DELETE", request.path, "", token(request.header)...)
		f.is(request.path, w, request.status, "")
		said.WriteString(w.Body.String())
	}
	mu.Lock()
	defer mu.Unlock()
	if logged.Len() == 0 {
		t.Error("nothing was logged")
	}
	secret := string(mine)[12:28]
	for what, text := range map[string]string{"logs": logged.String(), "errors and answers": said.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("the %s tell the token: %s", what, text)
		}
	}
}

// guarded is a buffer that several goroutines write to.
type guarded struct {
	mu     *sync.Mutex
	buffer *bytes.Buffer
}

func (g guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buffer.Write(p)
}
