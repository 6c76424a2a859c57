package middleware_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// recording is a store that notes each request's tree and wait, and tells when one waits.
type recording struct {
	pathlock.Store
	mu     sync.Mutex
	asked  []pathlock.Acquisition
	queued chan pathlock.Acquisition
	before func(pathlock.Acquisition)
}

func (s *recording) Local() bool { return true }

func (s *recording) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	s.mu.Lock()
	s.asked = append(s.asked, a)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(a)
	}
	told := a.Waiting
	a.Waiting = func() {
		told()
		if s.queued != nil {
			s.queued <- a
		}
	}
	return s.Store.Acquire(ctx, a)
}

func claim(text string) []pathlock.Claim {
	return []pathlock.Claim{pathlock.X(pathlock.MustParsePath(text))}
}

// A request that waited its turn and finds its node elsewhere does not queue up again behind those
// who came later: it has the tree's turn already.
func TestANewTryKeepsItsTurn(t *testing.T) {
	store := &recording{Store: memstore.New(), queued: make(chan pathlock.Acquisition)}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute})
	var order []string
	f.handler = func(c *gin.Context) {
		order = append(order, c.Param("id"))
		c.Status(http.StatusNoContent)
	}
	mover, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2")})
	if err != nil {
		t.Fatal(err)
	}
	var requests sync.WaitGroup
	send := func(id string) {
		requests.Go(func() {
			if w := f.send("DELETE", "/suites/"+id, ""); w.Code != http.StatusNoContent {
				t.Errorf("%s: answer %d: %s", id, w.Code, w.Body)
			}
		})
		<-store.queued
	}
	send("3")
	send("2") // waits for the one before it, and for all below /dir1
	f.nodes.move("3", "/dir1/elsewhere")
	if err := mover.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	requests.Wait()
	if want := []string{"3", "2"}; !slices.Equal(order, want) {
		t.Errorf("served in the order %v, want %v", order, want)
	}
	f.nothingLeft()
}

// Where the new place is held by one who waits for the old one, the request lets go and starts
// over.
func TestANewTryThatWouldDeadlockStartsOver(t *testing.T) {
	store := &recording{Store: memstore.New(), queued: make(chan pathlock.Acquisition, 3)}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute})
	other, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim("/other")})
	if err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	looks := 0
	f.nodes.after = func(string) {
		if looks++; looks != 2 {
			return
		}
		f.nodes.move("3", "/other/dir2")
		others.Go(func() {
			old, err := f.locker.Acquire(other.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1"), Wait: time.Minute})
			if err != nil {
				t.Error(err)
			} else if err := old.Release(t.Context()); err != nil {
				t.Error(err)
			}
			_ = other.Release(t.Context())
		})
		<-store.queued
	}
	if w := f.send("DELETE", "/suites/3", ""); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	others.Wait()
	f.nothingLeft()
}

// All that a request waits for together, in all tries and trees, takes no longer than Wait.
func TestTriesAndTreesShareOneBudget(t *testing.T) {
	const wait, took = 20 * time.Millisecond, 5 * time.Millisecond
	for request, status := range map[string]int{"DELETE /suites/3": http.StatusNoContent, "PUT /plans/7": http.StatusNoContent} {
		synctest.Test(t, func(t *testing.T) {
			store := &recording{Store: memstore.New()}
			f := newFixture(t, store, middleware.Config{Wait: wait})
			looks := 0
			f.nodes.after = func(string) {
				if looks++; looks == 1 {
					f.nodes.move("3", "/other/dir2")
				}
			}
			store.before = func(pathlock.Acquisition) { time.Sleep(took) }
			method, path, _ := strings.Cut(request, " ")
			f.is(request, f.send(method, path, ""), status, "")
			var waits []time.Duration
			for _, a := range store.asked {
				waits = append(waits, a.Wait)
			}
			if !slices.Equal(waits, []time.Duration{wait, wait - took}) {
				t.Errorf("%s: waits %v", request, waits)
			}
			f.nothingLeft()
		})
	}
}
