package pathlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// silent is a store that can fall silent: it then answers neither acquisitions nor releases.
type silent struct {
	pathlock.TransferStore
	falls atomic.Bool
}

func (s *silent) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if s.falls.Load() {
		<-ctx.Done()
		return pathlock.Grant{}, errors.Join(pathlock.ErrUnavailable, ctx.Err())
	}
	return s.TransferStore.Acquire(ctx, req)
}

func (s *silent) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if s.falls.Load() {
		<-ctx.Done()
		return errors.Join(pathlock.ErrUnavailable, ctx.Err())
	}
	return s.TransferStore.Release(ctx, tree, owner, id)
}

// besideSilent returns processes, and one more on their store whose own view of it can fall silent.
func besideSilent() (p processes, store *silent, locker *pathlock.Locker) {
	p = newProcesses()
	store = &silent{TransferStore: p.store}
	return p, store, pathlock.New(store, quiet, pathlock.WithLease(30*time.Second))
}

// settled waits for the releases in the background.
func settled(t *testing.T, locker *pathlock.Locker) {
	t.Helper()
	if err := locker.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDetachUnderAHoldTakesFiveSecondsWhenTheStoreIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, store, locker := besideSilent()
		hold := attach(t, locker, detached(t, p.here, "X /dir1"), pathlock.WithoutRenewal())
		lock := under(t, locker, hold, "/dir2")
		store.falls.Store(true)
		begun := time.Now()
		_, err := lock.Detach()
		if took := time.Since(begun); !errors.Is(err, pathlock.ErrUnavailable) || took != 5*time.Second {
			t.Errorf("after %v: %v, want ErrUnavailable after 5s", took, err)
		}
		store.falls.Store(false)
		release(t, lock)
		settled(t, locker)
		free(t, p.there, "X /dir2", true)
		if _, err := hold.Detach(); err != nil {
			t.Error(err)
		}
	})
}

func TestVacateEndsInTimeAndLeavesTheRestToTheBackground(t *testing.T) {
	for name, tt := range map[string]struct {
		within, want time.Duration
	}{
		"without a deadline":           {time.Hour, 5 * time.Second},
		"with a deadline":              {2 * time.Second, 2 * time.Second},
		"under a context that is over": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, store, locker := besideSilent()
				token := detached(t, p.here, "X /edited")
				before := attach(t, locker, token, pathlock.WithoutRenewal())
				for _, path := range []string{"/moved/a", "/moved/b", "/moved/c"} {
					if _, err := under(t, locker, before, path).Detach(); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := before.Detach(); err != nil {
					t.Fatal(err)
				}
				hold := attach(t, locker, token, pathlock.WithoutRenewal())
				store.falls.Store(true)
				ctx, stop := context.WithTimeout(t.Context(), tt.within)
				defer stop()
				begun := time.Now()
				hold.Vacate(ctx, pathlock.MustParsePath("/moved"))
				if took := time.Since(begun); took != tt.want {
					t.Errorf("it took %v, want %v", took, tt.want)
				}
				free(t, p.there, "X /moved/c", false)
				store.falls.Store(false)
				settled(t, locker)
				free(t, p.there, "X /moved", true)
				free(t, p.there, "X /edited", false)
				if _, err := hold.Detach(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
