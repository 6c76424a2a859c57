package pathlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// locked returns what a method of a mutex has granted.
func locked(ctx context.Context, t testing.TB, method func(context.Context) (*pathlock.Lock, error)) *pathlock.Lock {
	t.Helper()
	lock, err := method(ctx)
	testerr.Must(t, err)
	return lock
}

// refused returns the error with which a method of a mutex must refuse because of others.
func refused(ctx context.Context, t testing.TB, method func(context.Context) (*pathlock.Lock, error)) *pathlock.ConflictError {
	t.Helper()
	lock, err := method(ctx)
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v, %v, want a ConflictError", lock, err)
	}
	return conflict
}

// tryFor returns TryLockFor as a method without a duration.
func tryFor(m *pathlock.Mutex, d time.Duration) func(context.Context) (*pathlock.Lock, error) {
	return func(ctx context.Context) (*pathlock.Lock, error) { return m.TryLockFor(ctx, d) }
}

func TestMutex_waitsAsLongAsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pathlock.New(memstore.New(), quiet)
		m := l.Mutex("m")
		m.Note = "the first"
		lock := locked(t.Context(), t, m.Lock)

		const day = 24 * time.Hour
		ctx, stop := context.WithTimeout(t.Context(), day)
		defer stop()
		began := time.Now()
		conflict := refused(ctx, t, l.Mutex("m").Lock)
		if waited := time.Since(began); waited != day || conflict.Blocker.Note != "the first" {
			t.Errorf("refused after %v, because of %q", waited, conflict.Blocker.Note)
		}
		if !errors.Is(conflict, context.DeadlineExceeded) {
			t.Errorf("the error does not match the end of the context: %v", conflict)
		}

		time.AfterFunc(day, func() { _ = lock.Release(t.Context()) })
		began = time.Now()
		release(t, locked(t.Context(), t, m.Lock))
		if waited := time.Since(began); waited != day {
			t.Errorf("granted after %v, want the release after a day", waited)
		}

		lock = locked(t.Context(), t, m.Lock)
		began = time.Now()
		_ = refused(t.Context(), t, tryFor(m, time.Minute))
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("TryLockFor a minute waited %v", waited)
		}
		began = time.Now()
		for _, try := range []func(context.Context) (*pathlock.Lock, error){m.TryLock, tryFor(m, 0), tryFor(m, -time.Hour)} {
			_ = refused(t.Context(), t, try)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("TryLock waited %v", waited)
		}
		release(t, lock)
	})
}

// A holder that hangs in a process that lives loses the mutex when MaxHold is over or at the
// deadline of its context, whichever comes first, and is told so. So do those that have re-entered.
// Whoever waits gets in at that moment.
func TestMutex_isLostAtItsBound(t *testing.T) {
	for _, tt := range []struct {
		maxHold, deadline, want time.Duration // 0 is none
	}{
		{time.Hour, 0, time.Hour},
		{0, time.Hour, time.Hour},
		{time.Hour, 2 * time.Hour, time.Hour},
		{2 * time.Hour, time.Hour, time.Hour},
		{pathlock.Forever, time.Hour, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := &journal{}
			l, _ := newLocker(pathlock.WithObserver(j))
			m, next := l.Mutex("m"), l.Mutex("m")
			m.MaxHold, next.MaxHold = tt.maxHold, time.Hour
			ctx, stop := t.Context(), func() {}
			if tt.deadline > 0 {
				ctx, stop = context.WithTimeout(ctx, tt.deadline)
			}
			defer stop()
			began := time.Now()
			lock := locked(ctx, t, m.Lock)
			time.Sleep(time.Minute)
			inner := locked(lock.Context(), t, m.TryLock)
			waited := locked(t.Context(), t, next.Lock)
			if held := time.Since(began); held != tt.want {
				t.Errorf("%+v: held for %v", tt, held)
			}
			synctest.Wait()
			want := []string{"acquiring X /", "granted X /", "granted X / (re-entrant)", "acquiring X /", "waiting X /"}
			if ends, _ := lock.Context().Deadline(); !ends.Equal(began.Add(tt.want)) || !slices.Equal(j.events[:len(want)], want) {
				t.Errorf("%+v: the deadline of the hold is %v after its begin, seen %q", tt, ends.Sub(began), j.events)
			}
			rest := slices.Sorted(slices.Values(j.events[len(want):]))
			if want := []string{"granted X /", "lost X / (re-entrant): error", "lost X /: error", "released X /", "released X / (re-entrant)"}; !slices.Equal(rest, want) {
				t.Errorf("%+v: then seen %q, want %q", tt, rest, want)
			}
			for _, k := range []*pathlock.Lock{lock, inner} {
				cause, err := context.Cause(k.Context()), k.Release(t.Context())
				if !errors.Is(cause, context.DeadlineExceeded) || tt.want == tt.maxHold && !errors.Is(cause, pathlock.ErrHeldTooLong) {
					t.Errorf("%+v: the context has ended because of %v", tt, cause)
				}
				if !errors.Is(err, pathlock.ErrHeldTooLong) || !errors.Is(err, pathlock.ErrLost) || !errors.Is(err, pathlock.ErrNotHeld) {
					t.Errorf("%+v: released late: %v", tt, err)
				}
			}

			time.Sleep(time.Hour - 1) // the wait does not count
			synctest.Wait()
			if err := waited.Context().Err(); err != nil {
				t.Errorf("%+v: ended before its time: %v", tt, err)
			}
			release(t, waited)
		})
	}
}

// A transaction under a lock that was held for too long has to be rolled back, under its own lock.
func TestMaxHold_innerLockWithoutABoundKeepsTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker()
		req := request(t, "X /a")
		req.MaxHold = time.Hour
		lock, err := l.Acquire(t.Context(), req)
		testerr.Must(t, err)
		transaction := acquire(lock.Context(), t, l, "X /a/b")
		<-transaction.Context().Done()
		if cause := context.Cause(transaction.Context()); !errors.Is(cause, pathlock.ErrHeldTooLong) {
			t.Errorf("the transaction is cut off because of %v", cause)
		}
		time.Sleep(time.Hour)
		free(t, l, "X /a", false)
		release(t, transaction)
		free(t, l, "X /a", true)

		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		plain := acquire(ctx, t, l, "X /a")
		time.Sleep(24 * time.Hour)
		free(t, l, "X /a", false) // no MaxHold: the deadline ends the context alone
		release(t, plain)
	})
}

// A lock whose time is over while it is being detached ends soon after, if that fails.
func TestDetach_failureDoesNotLiftTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker()
		m := l.Mutex("m")
		m.MaxHold = time.Second
		lock := locked(t.Context(), t, m.Lock)
		store.hook(hooks{transfer: func(context.Context) error {
			time.Sleep(2 * time.Second)
			return pathlock.ErrUnavailable
		}})
		if _, err := lock.Detach(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) || lock.Context().Err() != nil {
			t.Errorf("detached: %v; the context: %v", err, lock.Context().Err())
		}
		release(t, locked(t.Context(), t, l.Mutex("m").Lock))
		if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrHeldTooLong) {
			t.Errorf("the context has ended because of %v", cause)
		}
	})
}

func TestDowngrade_letsReadersInAndNoWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker()
		m := l.RWMutex("m")
		lock := locked(t.Context(), t, m.Lock)
		outer := locked(lock.Context(), t, m.Lock)
		fence := lock.Fence()
		order := make(chan string, 3)
		for _, who := range []string{"early reader", "writer", "late reader"} {
			method := m.RLock
			if who == "writer" {
				method = m.Lock
			}
			go func() {
				k := locked(context.WithoutCancel(t.Context()), t, method)
				order <- who
				_ = k.Release(context.WithoutCancel(t.Context()))
			}()
			synctest.Wait()
		}

		store.hook(hooks{acquire: func(context.Context) error { return pathlock.ErrUnavailable }})
		if err := lock.Downgrade(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) || written(lock.Claims()) != "X /" {
			t.Errorf("without the store: %v, has %s", err, written(lock.Claims()))
		}
		store.hook(hooks{})
		if err := lock.Downgrade(t.Context()); err != nil || written(lock.Claims()) != "S /" || written(outer.Claims()) != "X /" {
			t.Errorf("downgraded: %v, has %s, and another lock %s", err, written(lock.Claims()), written(outer.Claims()))
		}
		synctest.Wait()
		if len(order) != 0 {
			t.Errorf("the %s is in beside a writer of the scope", <-order)
		}
		release(t, outer) // the last that needs to write
		if first := <-order; first != "early reader" {
			t.Errorf("the %s is in first", first)
		}
		synctest.Wait()
		if len(order) != 0 || lock.Context().Err() != nil || lock.Fence() != fence {
			t.Errorf("%d others are in; the context: %v; fence %d after %d", len(order), lock.Context().Err(), lock.Fence(), fence)
		}
		release(t, lock)
		if second, third := <-order, <-order; second != "writer" || third != "late reader" {
			t.Errorf("then the %s, then the %s", second, third)
		}
		testerr.Is(t, "downgraded after the release", lock.Downgrade(t.Context()), pathlock.ErrNotHeld)
		gate := acquire(t.Context(), t, l, "gate")
		testerr.Is(t, "a gate downgraded", gate.Downgrade(t.Context()), pathlock.ErrInvalidRequest)
		release(t, gate)
		bearer := attach(t, l, detached(t, l, "X /a"))
		testerr.Is(t, "a hold with a token downgraded", bearer.Downgrade(t.Context()), pathlock.ErrInvalidRequest)
		release(t, bearer)
	})
}

// A lock that ends during its downgrade leaves nothing behind.
func TestDowngrade_ofALockThatEndsMeanwhile(t *testing.T) {
	for says, end := range map[error]func(*testing.T, *watched, *pathlock.Lock){
		pathlock.ErrNotHeld: func(t *testing.T, _ *watched, lock *pathlock.Lock) { release(t, lock) },
		pathlock.ErrLost: func(_ *testing.T, store *watched, _ *pathlock.Lock) {
			store.hook(down(pathlock.ErrUnavailable))
			time.Sleep(pathlock.DefaultLease)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLocker()
			lock := locked(t.Context(), t, l.Mutex("m").Lock)
			store.hook(hooks{acquire: func(context.Context) error {
				store.hook(hooks{})
				end(t, store, lock)
				store.hook(hooks{})
				return nil
			}})
			if err := lock.Downgrade(t.Context()); !errors.Is(err, says) {
				t.Errorf("downgraded: %v, want %v", err, says)
			}
			_ = lock.Release(t.Context())
			release(t, locked(t.Context(), t, l.Mutex("m").TryLock))
		})
	}
}

// bothMutexes are an RWMutex of this package and one of the standard library, which get the same
// calls.
type bothMutexes struct {
	ours   *pathlock.RWMutex
	std    sync.RWMutex
	queued chan struct{} // gets something when a writer of ours queues

	readers []*pathlock.Lock
	writer  *pathlock.Lock
	// pending are the writers that wait behind the readers, nil if none do.
	pending *pendingWriters
}

type pendingWriters struct {
	ours chan *pathlock.Lock // nil is sent if the lock was refused
	std  chan struct{}
}

func newBothMutexes() *bothMutexes {
	b := &bothMutexes{queued: make(chan struct{}, 1)}
	tell := &waitingObserver{do: func() { b.queued <- struct{}{} }}
	b.ours = pathlock.New(memstore.New(), quiet, pathlock.WithObserver(tell)).RWMutex("m")
	return b
}

// agree fails the test unless both mutexes were granted or both were refused.
func agree(t *rapid.T, err error, std bool) (granted bool) {
	t.Helper()
	if (err == nil) != std || err != nil && !errors.Is(err, pathlock.ErrConflict) {
		t.Fatalf("ours: %v; the standard library's was granted: %v", err, std)
	}
	return std
}

func (b *bothMutexes) tryLock(t *rapid.T) {
	lock, err := b.ours.TryLock(t.Context())
	if agree(t, err, b.std.TryLock()) {
		b.writer = lock
	}
}

func (b *bothMutexes) tryRLock(t *rapid.T) {
	lock, err := b.ours.TryRLock(t.Context())
	if agree(t, err, b.std.TryRLock()) {
		b.readers = append(b.readers, lock)
	}
}

// lockBehindReaders has a writer queue in both mutexes.
func (b *bothMutexes) lockBehindReaders(t *rapid.T) {
	if len(b.readers) == 0 || b.pending != nil {
		t.Skip("nobody reads, or a writer waits already")
	}
	p := &pendingWriters{ours: make(chan *pathlock.Lock, 1), std: make(chan struct{})}
	b.pending = p
	go func() {
		lock, err := b.ours.Lock(context.Background())
		if err != nil {
			lock = nil
		}
		p.ours <- lock
	}()
	<-b.queued
	go func() {
		b.std.Lock()
		close(p.std)
	}()
	for b.std.TryRLock() { // it tells nobody when its writer has queued
		b.std.RUnlock()
	}
}

// rUnlock ends the read lock at an index. The last one lets the pending writers in.
func (b *bothMutexes) rUnlock(t *rapid.T, i int) {
	b.std.RUnlock()
	testerr.Must(t, b.readers[i].Release(t.Context()))
	b.readers = slices.Delete(b.readers, i, i+1)
	if len(b.readers) > 0 || b.pending == nil {
		return
	}
	<-b.pending.std
	b.writer, b.pending = <-b.pending.ours, nil
	if b.writer == nil {
		t.Fatal("the pending writer was refused")
	}
}

func (b *bothMutexes) unlock(t *rapid.T) {
	if b.writer == nil {
		t.Skip("nobody writes")
	}
	b.std.Unlock()
	testerr.Must(t, b.writer.Release(t.Context()))
	b.writer = nil
}

// downgrade makes the writer a reader. Nobody waits for a writer here, so the other mutex does so
// in two steps.
func (b *bothMutexes) downgrade(t *rapid.T) {
	if b.writer == nil {
		t.Skip("nobody writes")
	}
	b.std.Unlock()
	b.std.RLock()
	testerr.Must(t, b.writer.Downgrade(t.Context()))
	b.readers, b.writer = append(b.readers, b.writer), nil
}

// An RWMutex grants and refuses what that of the standard library does, also while a writer waits.
func TestRWMutex_agreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBothMutexes()
		t.Repeat(map[string]func(*rapid.T){
			"TryLock":             b.tryLock,
			"TryRLock":            b.tryRLock,
			"Downgrade":           b.downgrade,
			"Lock behind readers": b.lockBehindReaders,
			"Unlock":              b.unlock,
			"RUnlock": func(t *rapid.T) {
				if len(b.readers) == 0 {
					t.Skip("nobody reads")
				}
				b.rUnlock(t, rapid.IntRange(0, len(b.readers)-1).Draw(t, "reader"))
			},
		})
		for len(b.readers) > 0 {
			b.rUnlock(t, 0)
		}
	})
}
