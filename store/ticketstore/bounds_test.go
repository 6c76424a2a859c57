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

func (d *deaf) Ping(ctx context.Context) error {
	<-d.hears
	return d.backend.Ping(ctx)
}

// A call ends its wait plus the time-out after it began, at the latest, and nothing comes of it
// when the backend answers after all.
func TestCallsEndInTime(t *testing.T) {
	const timeout = 3 * time.Second
	acquiring := func(wait time.Duration) func(*stage, *ticketstore.Store) error {
		return func(s *stage, store *ticketstore.Store) error {
			req := s.ask("asker", "/a")
			req.Wait = wait
			_, err := store.Acquire(s.Context(), req)
			return err
		}
	}
	for name, c := range map[string]struct {
		call func(s *stage, store *ticketstore.Store) error
		wait time.Duration
	}{
		"TryLock":    {acquiring(0), 0},
		"TryLockFor": {acquiring(500 * time.Millisecond), 500 * time.Millisecond},
		"Lock":       {acquiring(time.Hour), time.Second}, // much less, where nobody answers
		"Release":    {func(s *stage, store *ticketstore.Store) error { return store.Release(s.Context(), s.tree, "a", "1") }, 0},
		"ForceRelease": {func(s *stage, store *ticketstore.Store) error {
			return store.ForceRelease(s.Context(), s.tree, "a")
		}, 0},
		"Renew": {func(s *stage, store *ticketstore.Store) error {
			_, err := store.Renew(s.Context(), s.tree, make([]pathlock.Lease, 200))
			return err
		}, 0},
		"Transfer": {func(s *stage, store *ticketstore.Store) error {
			_, err := store.Transfer(s.Context(), pathlock.Transfer{Tree: s.tree, From: "a", To: "b"})
			return err
		}, 0},
		"Snapshot": {func(s *stage, store *ticketstore.Store) error {
			_, err := store.Snapshot(s.Context(), s.tree)
			return err
		}, 0},
		"Ping": {func(s *stage, store *ticketstore.Store) error { return store.Ping(s.Context()) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				b := &deaf{s.backend(), make(chan struct{})}
				store := ticketstore.New("deaf", b, timeout)
				began := time.Now()
				err := c.call(s, store)
				if took := time.Since(began); took > c.wait+timeout {
					t.Errorf("it took %v", took)
				}
				if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
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

// A server falls silent while somebody waits.
func TestAWaitEndsInTime(t *testing.T) {
	const timeout = 3 * time.Second
	onStage(t, func(s *stage) {
		_, other := s.process()
		if _, err := other.Acquire(s.Context(), s.ask("holder", "/a")); err != nil {
			t.Fatal(err)
		}
		m, store := s.patient(timeout)
		req := s.ask("waiter", "/a")
		req.Wait = 2 * time.Second
		began := time.Now()
		ended := s.begin(s.Context(), store, req)
		m.meddle(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil)
		err := <-ended
		if took := time.Since(began); took > req.Wait+timeout {
			t.Errorf("it took %v", took)
		}
		if !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, pathlock.ErrConflict) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		m.meddle(nil, nil)
		if err := other.Release(s.Context(), s.tree, "holder", "holder"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * timeout) // a try to take it back is under way
		s.isEmpty()
	})
}
