package zkstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testprocesses"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

func TestProcesses(t *testing.T) {
	server := testzk.Start(t)
	testprocesses.Run(t, func(t *testing.T) (string, pathlock.Store) { return "zk://" + server.Addr, newStore(t, server.Addr) })
}

// TestCut cuts the connection once, at each request in turn, before it reaches the server and after
// it was carried out. Every operation succeeds all the same, and is carried out once.
func TestCut(t *testing.T) {
	server := testzk.Start(t)
	other := newStore(t, server.Addr)
	for _, answers := range []bool{false, true} {
		t.Run(fmt.Sprintf("answers=%v", answers), func(t *testing.T) {
			for n := 1; ; n++ {
				addr, proxy := behind(t, server.Addr)
				s := newStore(t, addr)
				proxy.CutAt(n, answers)
				story(t, s, other)
				if err := s.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !proxy.WasCut() {
					t.Logf("the story has %d requests", n-1)
					if n < 20 {
						t.Error("too few: the proxy does not see them")
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
