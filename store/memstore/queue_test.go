package memstore

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Of 500 who queue for one node each is watched by one at most, so that a
// release looks at the next one alone: 500 hand-overs, not 500 x 500.
func TestQueueForOneNodeIsAChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 500
		store := New()
		tree, err := pathlock.NewTree("test", "plan")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, crowd+1)
		for i := range crowd + 1 {
			req := pathlock.Acquisition{
				Tree: tree, Owner: pathlock.Owner(fmt.Sprint(i)), Grant: "1",
				Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a/b"))),
				Lease:  time.Second, Wait: time.Hour,
			}
			go func() {
				_, err := store.Acquire(t.Context(), req)
				served <- err
			}()
			synctest.Wait()
		}
		table := store.use(tree)
		table.mu.Lock()
		requests, waiting := table.allRequests()
		if len(waiting) != crowd {
			t.Errorf("%d wait, want %d", len(waiting), crowd)
		}
		for r := range requests {
			if len(r.watchers) > 1 {
				t.Errorf("request %s is watched by %d", r.owner.id, len(r.watchers))
			}
		}
		table.mu.Unlock()
		store.unuse(table)
		for range crowd + 1 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	})
}

// What an acquisition costs does not depend on how many locks there are.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, locks := range []int{0, 1_000, 100_000} {
		b.Run(fmt.Sprintf("beside %d locks", locks), func(b *testing.B) {
			store := New()
			tree, err := pathlock.NewTree("test", "plan")
			if err != nil {
				b.Fatal(err)
			}
			ask := func(name string) pathlock.Acquisition {
				return pathlock.Acquisition{
					Tree: tree, Owner: pathlock.Owner(name), Grant: "1",
					Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/dir1/dir2/" + name))),
					Lease:  time.Hour,
				}
			}
			for i := range locks {
				if _, err := store.Acquire(b.Context(), ask(fmt.Sprint(i))); err != nil {
					b.Fatal(err)
				}
			}
			req := ask("benchmark")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := store.Acquire(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				if err := store.Release(b.Context(), tree, req.Owner, req.Grant); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
