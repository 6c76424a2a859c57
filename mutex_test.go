package pathlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

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

// Whoever looks at the lock meanwhile reads nothing that changes without the mutex.
func TestExchange_noteStaysAfterDowngrade(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		_, _ = lock.Degraded(), lock.Note() // one look is enough for the race detector
	}()
	testerr.None(t, lock.Exchange(t.Context(), claims(t, "X /b"), "another"))
	testerr.None(t, lock.Downgrade(t.Context()))
	<-looked
	snapshot, err := l.Snapshot(t.Context(), lock.Tree())
	if err != nil || len(snapshot.Holders) != 1 || snapshot.Holders[0].Note != "another" || lock.Note() != "another" {
		t.Errorf("the lock's note is %q, and others see %+v, %v", lock.Note(), snapshot.Holders, err)
	}
	release(t, lock)
}
