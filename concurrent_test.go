package pathlock_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Many goroutines, some of which share scopes, on few nodes: nobody may ever be where another owner
// has X, and nothing may be left in the end.
func TestConcurrentUseKeepsOwnersApart(t *testing.T) {
	l, _ := newLocker(pathlock.WithWait(5 * time.Second))
	var (
		mu      sync.Mutex
		writers = map[string]pathlock.Owner{}
		work    sync.WaitGroup
	)
	enter := func(node string, owner pathlock.Owner) {
		mu.Lock()
		defer mu.Unlock()
		if other, ok := writers[node]; ok && other != owner {
			t.Errorf("%s and %s both have X on %s", owner.Short(), other.Short(), node)
		}
		writers[node] = owner
	}
	leave := func(node string) {
		mu.Lock()
		defer mu.Unlock()
		delete(writers, node)
	}
	for worker := range 8 {
		work.Go(func() {
			for i := range 200 {
				node := fmt.Sprintf("/n%d", (worker+i)%3)
				req := request(t, "X "+node)
				req.Wait = 0
				outer, err := l.Acquire(t.Context(), req)
				if err != nil {
					t.Error(err)
					return
				}
				enter(node, l.Scope(outer.Context()).Owner())
				var inner sync.WaitGroup
				for range 2 {
					inner.Go(func() {
						lock, err := l.Acquire(outer.Context(), request(t, "X "+node+"/below"))
						if err != nil {
							t.Error(err)
							return
						}
						if err := lock.Release(t.Context()); err != nil {
							t.Error(err)
						}
					})
				}
				inner.Wait()
				leave(node)
				if err := outer.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if trees, err := l.Trees(t.Context()); err != nil || len(trees) != 0 {
		t.Errorf("left behind: %v, %v", trees, err)
	}
}
