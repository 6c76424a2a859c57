package memstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// stand is a store with a tree for a benchmark.
type stand struct {
	testing.TB
	store *Store
	tree  pathlock.Tree
}

func newStand(b testing.TB) *stand {
	tree, err := pathlock.NewTree("test", "plan")
	if err != nil {
		b.Fatal(err)
	}
	return &stand{b, New(), tree}
}

func (s *stand) ask(owner, id, path string, wait time.Duration) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: s.tree, Owner: pathlock.Owner(owner), Grant: pathlock.GrantID(id),
		Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path))), Lease: time.Hour, Wait: wait,
	}
}

func (s *stand) take(owner, path string) {
	if _, err := s.store.Acquire(s.Context(), s.ask(owner, "own", path, 0)); err != nil {
		s.Fatal(err)
	}
}

// start makes a request in the background.
func (s *stand) start(ctx context.Context, req pathlock.Acquisition) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.store.Acquire(ctx, req)
		done <- err
	}()
	return done
}

// queue makes a request that waits, and returns what has it give up.
func (s *stand) queue(owner, path string) (giveUp func()) {
	waiting := make(chan struct{})
	req := s.ask(owner, "wait", path, time.Hour)
	req.Waiting = func() { close(waiting) }
	ctx, cancel := context.WithCancel(s.Context())
	ended := s.start(ctx, req)
	<-waiting
	return func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			s.Error(err)
		}
	}
}

// A lock that nobody else wants, where others wait for something else in the tree.
func BenchmarkUncontendedWhereOthersWait(b *testing.B) {
	for _, crowd := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("waiters=%d", crowd), func(b *testing.B) {
			s := newStand(b)
			for i := range 100 {
				s.take(fmt.Sprint("holder ", i), fmt.Sprintf("/others/hot%d", i))
			}
			for i := range crowd {
				s.queue(fmt.Sprint("waiter ", i), "/others/hot0")
			}
			req := s.ask("owner", "1", "/a/b/c/d/e/f/g/h", 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.store.Acquire(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				if err := s.store.Release(b.Context(), s.tree, req.Owner, req.Grant); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
