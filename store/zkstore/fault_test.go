package zkstore

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// TestWakeOfAnotherProcess: what one process releases, a waiter of another one gets at once.
func TestWakeOfAnotherProcess(t *testing.T) {
	server := testzk.Start(t)
	a, b := newStore(t, server.Addr), newStore(t, server.Addr)
	tree := newTree(t)
	first, second := ask(tree, x("/n")), ask(tree, x("/n"))
	take(t, a, first)
	w := queue(t, b, second)
	began := time.Now()
	release(t, a, first)
	w.granted()
	t.Logf("woken after %v", time.Since(began))
	release(t, b, second)
}

// TestCut cuts the connection once, at each request in turn, before it reaches the server and after
// it was carried out. Every operation succeeds all the same, and is carried out once.
func TestCut(t *testing.T) {
	server := testzk.Start(t)
	other := newStore(t, server.Addr)
	for _, answers := range []bool{false, true} {
		t.Run(fmt.Sprintf("answers=%v", answers), func(t *testing.T) {
			for n := 1; ; n++ {
				line := &line{}
				s := newStore(t, server.Addr, line.option())
				line.cutRequest(n, answers)
				story(t, s, other)
				if err := s.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !line.wasCut() {
					t.Logf("the story has %d requests", n-1)
					if n < 20 {
						t.Error("too few: the line does not see them")
					}
					return
				}
				if t.Failed() {
					t.Fatalf("at request %d", n)
				}
			}
		})
	}
}

// story has every operation in it.
func story(t *testing.T, s, other *Store) {
	t.Helper()
	ctx, tree := t.Context(), newTree(t)
	first, second, third := ask(tree, x("/a")), ask(tree, x("/a")), ask(tree, x("/b"))
	take(t, s, first)
	take(t, s, third)
	holders(t, other, tree, 2)
	w := queue(t, s, second)
	release(t, s, first)
	fence := w.granted().Fence
	if again := take(t, s, second); again.Fence != fence {
		t.Errorf("the same request has the fences %d and %d", fence, again.Fence)
	}
	if lost, err := s.Renew(ctx, tree, []pathlock.Lease{{Owner: second.Owner, For: long}, {Owner: "nobody", For: long}}); err != nil || len(lost) != 1 {
		t.Errorf("renew: %v are lost, error %v", lost, err)
	}
	got, err := s.Transfer(ctx, pathlock.Transfer{Tree: tree, From: second.Owner, To: "d-" + second.Owner, Lease: long})
	if err != nil || len(got.Grants) != 1 || got.Grants[0].Fence != fence {
		t.Errorf("transfer: %+v, error %v", got, err)
	}
	holders(t, other, tree, 2)
	blocked := ask(tree, ix("/a"))
	if _, err := s.Acquire(ctx, blocked); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("a request that is in the way of a hold: %v, want a conflict", err)
	}
	second.Owner = "d-" + second.Owner
	release(t, s, second)
	release(t, s, third)
	if err := s.Release(ctx, tree, third.Owner, third.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("a second release: %v, want ErrNotHeld", err)
	}
	empty(t, other, tree)
}

// TestSilence: a server that answers nothing is left within the time-out, and taken up again.
func TestSilence(t *testing.T) {
	server := testzk.Start(t)
	s := newStore(t, server.Addr, WithTimeout(time.Second))
	tree := newTree(t)
	held := ask(tree, x("/n"))
	take(t, s, held)
	server.Pause()
	began := time.Now()
	if err := s.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("ping: %v, want ErrUnavailable", err)
	}
	if _, err := s.Acquire(t.Context(), ask(tree, x("/m"))); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("acquire: %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Snapshot(ctx, tree); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a snapshot: %v, want the context's error", err)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("three calls have taken %v", took)
	}
	server.Resume()
	testserver.Await(t, "the store serves again", func() bool { return s.Ping(t.Context()) == nil })
	release(t, s, held)
	testserver.Await(t, "nothing is held", func() bool {
		snapshot, err := s.Snapshot(t.Context(), tree)
		return err == nil && len(snapshot.Holders) == 0
	})
}

// TestRestart: tickets and sessions outlive a restart of the server, and so do waiters.
func TestRestart(t *testing.T) {
	for how, stop := range map[string]func(*testzk.Server){"stopped": (*testzk.Server).Stop, "killed": (*testzk.Server).Kill} {
		t.Run(how, func(t *testing.T) {
			server := testzk.Start(t)
			s, other := newStore(t, server.Addr), newStore(t, server.Addr)
			tree := newTree(t)
			held, next := ask(tree, x("/n")), ask(tree, x("/n"))
			fence := take(t, s, held).Fence
			w := queue(t, other, next)
			began := time.Now()
			stop(server)
			t.Logf("stopped after %v", time.Since(began))
			server.Start()
			t.Logf("started after %v", time.Since(began))
			testserver.Await(t, "the store serves again", func() bool { return s.Ping(t.Context()) == nil })
			t.Logf("reached after %v", time.Since(began))
			if lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}}); err != nil || len(lost) != 0 {
				t.Errorf("renew: %v are lost, error %v", lost, err)
			}
			release(t, s, held)
			t.Logf("released after %v", time.Since(began))
			if grant := w.granted(); grant.Fence <= fence {
				t.Errorf("the fence %d follows %d", grant.Fence, fence)
			}
			release(t, other, next)
		})
	}
}

// TestRestartEmpty: a server that has forgotten everything is taken up, and locks are lost.
func TestRestartEmpty(t *testing.T) {
	server := testzk.Start(t)
	s := newStore(t, server.Addr, WithTimeout(time.Second))
	tree := newTree(t)
	held := ask(tree, x("/n"))
	take(t, s, held)
	server.Kill()
	server.Forget()
	server.Start()
	testserver.Await(t, "the store serves again", func() bool { return s.Ping(t.Context()) == nil })
	if lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}}); err != nil || len(lost) != 1 {
		t.Errorf("renew: %v are lost, error %v", lost, err)
	}
	take(t, s, held)
	release(t, s, held)
}

// TestEndedSession: a session that is ended from outside takes nothing with it, and its process
// goes on with another one.
func TestEndedSession(t *testing.T) {
	server := testzk.Start(t)
	line := &line{}
	s, other := newStore(t, server.Addr, line.option()), newStore(t, server.Addr)
	tree := newTree(t)
	held := ask(tree, x("/n"))
	take(t, s, held)
	own := queue(t, s, ask(tree, x("/n")))
	line.endSession(t, server.Addr)
	testserver.Await(t, "there is another session", func() bool { return s.Ping(t.Context()) == nil })
	if lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}}); err != nil || len(lost) != 0 {
		t.Errorf("renew: %v are lost, error %v", lost, err)
	}
	if _, err := other.Acquire(t.Context(), ask(tree, x("/n"))); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("a request that is in the way of a hold: %v, want a conflict", err)
	}
	release(t, other, held)
	own.granted()
	release(t, s, own.req)
}
