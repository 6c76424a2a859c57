package pathlock_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// sessions is a store that has a session.
type sessions struct {
	*memstore.Store
	now chan struct{}
}

func (s *sessions) Session() <-chan struct{} { return s.now }

// end ends the present session, and begins another.
func (s *sessions) end() {
	ended := s.now
	s.now = make(chan struct{})
	close(ended)
}

func TestALostSessionEndsWhatItTookAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &sessions{memstore.New(), make(chan struct{})}
		l := pathlock.New(store, quiet, pathlock.WithLease(time.Hour))
		for round := range 2 {
			gone := acquire(t.Context(), t, l, "X /a")
			stays := acquire(t.Context(), t, l, "X /b")
			fresh := time.Duration(round) * 3 * time.Second // whether the renewer has seen them
			time.Sleep(fresh)
			synctest.Wait()
			for _, h := range snapshot(t, store).Holders {
				if h.Fence == gone.Fence() {
					if err := store.ForceRelease(t.Context(), gone.Tree(), h.Owner); err != nil {
						t.Fatal(err)
					}
				}
			}
			store.end()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if err := gone.Context().Err(); err == nil {
				t.Fatalf("round %d: the lock is still held", round)
			}
			if err := gone.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("round %d: its release: %v", round, err)
			}
			if err := stays.Context().Err(); err != nil {
				t.Errorf("round %d: a lock that the session did not take along has ended: %v", round, err)
			}
			release(t, stays)
		}
	})
}

func snapshot(t *testing.T, store pathlock.Store) pathlock.Snapshot {
	t.Helper()
	s, err := store.Snapshot(t.Context(), tree(t, "plan"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
