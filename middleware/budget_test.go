package middleware_test

import (
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

// A request that waited its turn and finds its node elsewhere does not queue up again behind those
// who came later: it has the tree's turn already.
func TestRetry_keepsItsTurn(t *testing.T) {
	store := &spy{Store: memstore.New(), queued: make(chan struct{})}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute})
	var order []string
	f.handler = func(c *gin.Context) { order = append(order, c.Param("id")) }
	mover := f.acquire("/dir1/dir2")
	var requests sync.WaitGroup
	for _, id := range []string{"3", "2"} { // 2 waits for the one before it, and for all below /dir1
		requests.Go(func() { f.is(id, f.send("DELETE", "/suites/"+id, ""), http.StatusOK, "") })
		<-store.queued
	}
	f.nodes.move("3", "/dir1/elsewhere")
	f.release(mover)
	requests.Wait()
	if want := []string{"3", "2"}; !slices.Equal(order, want) {
		t.Errorf("served in the order %v, want %v", order, want)
	}
	f.nothingLeft()
}

// Where the new place is held by one who waits for the old one, the request lets go and starts
// over.
func TestRetry_thatWouldDeadlockStartsOver(t *testing.T) {
	store := &spy{Store: memstore.New(), queued: make(chan struct{}, 3)}
	f := newFixture(t, store, middleware.Config{Wait: time.Minute})
	other := f.acquire("/other")
	var others sync.WaitGroup
	f.nodes.after = func(id string, looks int) {
		if f.nodes.movesOnce(id, looks); looks != 2 {
			return
		}
		others.Go(func() {
			old, err := f.locker.Acquire(other.Context(), pathlock.Request{Tree: plan, Claims: claim("/dir1"), Wait: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			f.release(old)
			f.release(other)
		})
		<-store.queued
	}
	f.is("the request", f.send("DELETE", "/suites/3", ""), http.StatusNoContent, "")
	others.Wait()
	f.nothingLeft()
}

// All that a request waits for together, in all tries and trees, takes no longer than Wait.
func TestWait_isSharedByTriesAndTrees(t *testing.T) {
	const wait, took = 20 * time.Millisecond, 5 * time.Millisecond
	for _, request := range []string{"DELETE /suites/3", "PUT /plans/7"} {
		synctest.Test(t, func(t *testing.T) {
			store := &spy{Store: memstore.New(), before: func() { time.Sleep(took) }}
			f := newFixture(t, store, middleware.Config{Wait: wait})
			f.nodes.after = f.nodes.movesOnce
			method, path, _ := strings.Cut(request, " ")
			f.is(request, f.send(method, path, ""), http.StatusNoContent, "")
			if len(store.asked) != 2 || store.asked[0].Wait != wait || store.asked[1].Wait != wait-took {
				t.Errorf("%s: asked for %+v", request, store.asked)
			}
			f.nothingLeft()
		})
	}
}
