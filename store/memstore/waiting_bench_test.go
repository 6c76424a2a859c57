package memstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// What a request costs whose owner holds something, in a tree where 400 holders wait: all for one
// node; each for the next; and all while somebody waits for all of them.
func BenchmarkRequestAmongWaitingHolders(b *testing.B) {
	const crowd = 400
	for name, wants := range map[string]func(i int) string{
		"one node":   func(int) string { return "/hot" },
		"a chain":    func(i int) string { return fmt.Sprintf("/own%d", i+1) },
		"all waited": func(int) string { return "/hot" },
	} {
		b.Run(name, func(b *testing.B) {
			s := newStand(b)
			s.take("holder", "/hot")
			s.take("next", fmt.Sprintf("/own%d", crowd))
			for i := range crowd {
				s.take(fmt.Sprint(i), fmt.Sprintf("/own%d", i))
			}
			if name == "all waited" {
				s.queue("root", "/")
			}
			for i := range crowd {
				s.queue(fmt.Sprint(i), wants(i))
			}
			s.awaitWaiters(crowd)
			b.ResetTimer()
			for b.Loop() {
				// In the chain, the next one is the last: all wait for it, so that this would be a
				// deadlock.
				if _, err := s.store.Acquire(b.Context(), s.ask("next", "again", "/own0", 1)); err == nil {
					b.Fatal("granted")
				}
			}
		})
	}
}

// What it costs that a waiter gives up, where thousands wait: the first of a queue, and a writer
// before whom and behind whom readers wait.
func BenchmarkGiveUpInACrowd(b *testing.B) {
	const crowd = 10_000
	for name, mode := range map[string]pathlock.Mode{"before writers": pathlock.ModeX, "before readers": pathlock.ModeS} {
		b.Run(name, func(b *testing.B) {
			s := newStand(b)
			s.take("holder", "/hot")
			ctx, cancel := context.WithCancel(b.Context())
			left := s.start(ctx, s.ask("first", "1", "/hot", time.Hour))
			s.awaitWaiters(1)
			for i := range crowd {
				req := s.ask(fmt.Sprint(i), "1", "/hot", time.Hour)
				req.Claims = pathlock.Normalize(pathlock.Claim{Path: pathlock.MustParsePath("/hot"), Mode: mode})
				s.start(b.Context(), req)
			}
			s.awaitWaiters(crowd + 1)
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				if left == nil {
					b.Fatal("not repeatable: run with -benchtime 1x")
				}
				b.StartTimer()
				cancel()
				if err := <-left; err == nil {
					b.Fatal("granted")
				}
				left = nil
			}
			cancel()
		})
	}
}

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

// awaitWaiters returns when at least n requests wait.
func (s *stand) awaitWaiters(n int) {
	t := s.store.use(s.tree)
	defer s.store.unuse(t)
	for {
		t.mu.Lock()
		waiters := t.Waiters()
		t.mu.Unlock()
		if waiters >= n {
			return
		}
		time.Sleep(time.Millisecond)
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

// What it costs that a waiter gives up, where 400 holders wait and pass somebody who waits for all
// of them: the last of those holders, and one who holds nothing.
func BenchmarkGiveUpAmongPassers(b *testing.B) {
	for _, name := range []string{"holder", "other"} {
		b.Run(name, func(b *testing.B) {
			s := newPassers(b, 400)
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				leave := s.queue(name, "/hot")
				b.StartTimer()
				leave()
			}
		})
	}
}

// newPassers returns a stand in which holders wait for one node and pass somebody who waits for all
// of them. One more holds something and waits for nothing.
func newPassers(b testing.TB, crowd int) *stand {
	s := newStand(b)
	s.take("hot", "/hot")
	s.take("holder", "/own")
	for i := range crowd {
		s.take(fmt.Sprint(i), fmt.Sprintf("/own%d", i))
	}
	s.queue("root", "/")
	for i := range crowd {
		s.queue(fmt.Sprint(i), "/hot")
	}
	return s
}
