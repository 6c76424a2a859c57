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
	"github.com/pathlock-go/pathlock/store/memstore"
)

// locked returns what a method of a mutex has granted.
func locked(ctx context.Context, t testing.TB, method func(context.Context) (*pathlock.Lock, error)) *pathlock.Lock {
	t.Helper()
	lock, err := method(ctx)
	if err != nil {
		t.Fatal(err)
	}
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

func TestLockWaitsAsLongAsItsContext(t *testing.T) {
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
	if err := b.readers[i].Release(t.Context()); err != nil {
		t.Fatal(err)
	}
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
	if err := b.writer.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.writer = nil
}

// An RWMutex grants and refuses what that of the standard library does, also while a writer waits.
func TestAnRWMutexAgreesWithThatOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBothMutexes()
		t.Repeat(map[string]func(*rapid.T){
			"TryLock":             b.tryLock,
			"TryRLock":            b.tryRLock,
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
