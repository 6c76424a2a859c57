package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
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

// Goroutines of several lockers read and write what a mutex guards: the race detector sees whoever
// comes in beside a writer.
func TestAnRWMutexGuardsWhatGoroutinesShare(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		const workers, turns, names = 8, 25, 2
		var shared [names]struct {
			written          int
			fence            uint64
			readers, writers atomic.Int64
		}
		var work sync.WaitGroup
		for worker := range workers {
			l := pathlock.New(store, quiet)
			work.Go(func() {
				for i := range turns {
					guarded := &shared[i%names]
					m := l.RWMutex(fmt.Sprintf("m%d", i%names))
					if (worker+i/names)%2 == 0 {
						lock, err := m.RLock(t.Context())
						if err != nil {
							t.Error(err)
							return
						}
						guarded.readers.Add(1)
						if guarded.writers.Load() > 0 || guarded.fence >= lock.Fence() {
							t.Errorf("a reader with fence %d beside a writer, or after one with fence %d", lock.Fence(), guarded.fence)
						}
						guarded.readers.Add(-1)
						release(t, lock)
						continue
					}
					lock, err := m.Lock(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					if guarded.writers.Add(1) != 1 || guarded.readers.Load() > 0 || guarded.fence >= lock.Fence() {
						t.Errorf("a writer with fence %d beside another owner, or after fence %d", lock.Fence(), guarded.fence)
					}
					guarded.written++
					guarded.fence = lock.Fence()
					guarded.writers.Add(-1)
					release(t, lock)
				}
			})
		}
		work.Wait()
		written := 0
		for i := range shared {
			written += shared[i].written
		}
		if want := workers * turns / 2; written < want-workers || written > want+workers {
			t.Errorf("%d writes of about %d", written, want)
		}
		if trees, err := store.Trees(t.Context()); err != nil || len(trees) != 0 {
			t.Errorf("left behind: %v, %v", trees, err)
		}
	})
}

// renewals counts the renewals of each tree.
type renewals struct {
	pathlock.Store
	mu    sync.Mutex
	of    map[pathlock.Tree]int
	trees int // how many trees are awaited
	times int // how often
	done  chan struct{}
}

func (r *renewals) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	lost, err := r.Store.Renew(ctx, tree, leases)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of[tree]++; r.of[tree] == r.times {
		if r.trees--; r.trees == 0 {
			close(r.done)
		}
	}
	return lost, err
}

// A process may hold many mutexes for long: all of them are renewed, past the first lease.
func TestAProcessHoldsManyMutexes(t *testing.T) {
	eachStore(t, func(t *testing.T, store pathlock.Store) {
		const many = 300
		counted := &renewals{Store: store, of: map[pathlock.Tree]int{}, trees: many, times: 4, done: make(chan struct{})}
		l := pathlock.New(counted, quiet, pathlock.WithLease(3*time.Second))
		var held []*pathlock.Lock
		for i := range many {
			held = append(held, locked(t.Context(), t, l.Mutex(fmt.Sprint(i)).TryLock))
		}
		select {
		case <-counted.done: // four thirds of a lease after the last grant
		case <-time.After(30 * time.Second):
			t.Fatal("some are not renewed")
		}
		for i, lock := range held {
			if lock.Context().Err() != nil {
				t.Fatalf("the mutex %d of %d was lost: %v", i, many, context.Cause(lock.Context()))
			}
			release(t, lock)
		}
	})
}
