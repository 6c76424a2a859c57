package pathlock_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Goroutines that work under one lock exclude each other by the mutexes of other names: each is an
// owner of its own there.
func TestWorkersUnderALockExcludeEachOtherByName(t *testing.T) {
	l, _ := newLocker()
	for name, outer := range map[string]func() (*pathlock.Lock, error){
		"a mutex": func() (*pathlock.Lock, error) { return l.Mutex("job").Lock(t.Context()) },
		"a tree":  func() (*pathlock.Lock, error) { return l.Acquire(t.Context(), request(t, "X /a")) },
	} {
		t.Run(name, func(t *testing.T) {
			job, err := outer()
			if err != nil {
				t.Fatal(err)
			}
			defer release(t, job)
			first, err := l.Mutex("account").Lock(job.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Mutex("account").TryLock(job.Context()); !errors.Is(err, pathlock.ErrConflict) {
				t.Errorf("a second worker gets %v, want a conflict", err)
			}
			again, err := l.Mutex("account").TryLock(first.Context())
			if err != nil {
				t.Fatalf("the first worker again: %v", err)
			}
			release(t, again)
			release(t, first)
		})
	}
}

// The context of a mutex leaves the locks of the request around it where they are.
func TestUnderAMutexTheOuterLocksAreStillHeld(t *testing.T) {
	l, store := newLocker()
	outer := acquire(t.Context(), t, l, "X /a")
	defer release(t, outer)
	mutex, err := l.Mutex("cache").Lock(outer.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, mutex)
	store.called()
	inner := acquire(mutex.Context(), t, l, "X /a/b")
	release(t, inner)
	if calls := store.called(); len(calls) > 0 {
		t.Errorf("what the request holds was asked for again: %q", calls)
	}
	if err := context.Cause(mutex.Context()); err != nil {
		t.Error(err)
	}
}

// What was left behind under a mutex's token is the bearer's, as the lock was.
func TestAnAttachedMutexIsReentered(t *testing.T) {
	l := pathlock.New(memstore.New(), quiet)
	lock, err := l.Mutex("edit").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := lock.Detach()
	if err != nil {
		t.Fatal(err)
	}
	attached, err := l.Attach(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	defer release(t, attached)
	again, err := l.Mutex("edit").TryLock(attached.Context())
	if err != nil {
		t.Fatalf("under the token: %v", err)
	}
	release(t, again)
}
