package ticketstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// deaf is a backend that may hang: it does not even heed the ends of contexts then.
type deaf struct {
	*backend
	hears chan struct{} // closed while it answers
}

func (d *deaf) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	<-d.hears
	return d.backend.Update(context.WithoutCancel(ctx), tree, change)
}

func (d *deaf) View(ctx context.Context, tree pathlock.Tree) (ticketstore.State, error) {
	<-d.hears
	return d.backend.View(ctx, tree)
}

func (d *deaf) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	<-d.hears
	return d.backend.Trees(ctx)
}

func (d *deaf) Ping(ctx context.Context) error {
	<-d.hears
	return d.backend.Ping(ctx)
}

// A call ends its wait plus the time-out after it began, at the latest, and nothing comes of it
// when the backend answers after all.
func TestCallsEndInTime(t *testing.T) {
	const timeout = 3 * time.Second
	type call func(ctx context.Context, s *fixture, store *ticketstore.Store) error
	acquiring := func(wait time.Duration) call {
		return func(ctx context.Context, s *fixture, store *ticketstore.Store) error {
			req := s.ask("asker", "/a")
			req.Wait = wait
			_, err := store.Acquire(ctx, req)
			return err
		}
	}
	for name, c := range map[string]struct {
		call call
		wait time.Duration
	}{
		"TryLock":    {acquiring(0), 0},
		"TryLockFor": {acquiring(500 * time.Millisecond), 500 * time.Millisecond},
		"Lock":       {acquiring(time.Hour), time.Second}, // much less, where nobody answers
		"Release": {func(ctx context.Context, s *fixture, store *ticketstore.Store) error {
			return store.Release(ctx, s.tree, "a", "1")
		}, 0},
		"ForceRelease": {func(ctx context.Context, s *fixture, store *ticketstore.Store) error {
			return store.ForceRelease(ctx, s.tree, "a")
		}, 0},
		"Renew": {func(ctx context.Context, s *fixture, store *ticketstore.Store) error {
			_, err := store.Renew(ctx, s.tree, make([]pathlock.Lease, 200))
			return err
		}, 0},
		"Transfer": {func(ctx context.Context, s *fixture, store *ticketstore.Store) error {
			_, err := store.Transfer(ctx, pathlock.Transfer{Tree: s.tree, From: "a", To: "b"})
			return err
		}, 0},
		"Snapshot": {func(ctx context.Context, s *fixture, store *ticketstore.Store) error {
			_, err := store.Snapshot(ctx, s.tree)
			return err
		}, 0},
		"Trees": {func(ctx context.Context, _ *fixture, store *ticketstore.Store) error {
			_, err := store.Trees(ctx)
			return err
		}, 0},
		"Ping": {func(ctx context.Context, _ *fixture, store *ticketstore.Store) error { return store.Ping(ctx) }, 0},
	} {
		for by, most := range map[string]time.Duration{"the store's time-out": timeout, "the caller's deadline": timeout / 4} {
			t.Run(name+"/"+by, func(t *testing.T) {
				inBubble(t, func(s *fixture) {
					b := &deaf{s.backend(), make(chan struct{})}
					store := ticketstore.New("deaf", b, timeout)
					ctx, began := s.Context(), time.Now()
					if most < timeout {
						deadline, cancel := context.WithTimeout(ctx, most)
						defer cancel()
						ctx = deadline
					}
					err := c.call(ctx, s, store)
					if took := time.Since(began); took > c.wait+most+time.Second {
						t.Errorf("it took %v", took)
					}
					if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) != (most < timeout) {
						t.Errorf("the error is %v", err)
					}
					time.Sleep(s.ask("", "/").Lease / 2)
					close(b.hears)
					time.Sleep(3 * time.Second)
					synctest.Wait()
					s.isEmpty()
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
