package quorum_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// TestOrderWhileOthersFail: those that wait are served in the order of their arrival, whatever
// becomes of a member that is not the first, and newcomers wait behind them.
func TestOrderWhileOthersFail(t *testing.T) {
	for _, down := range []int{1, 2} {
		t.Run([]string{1: "the second", 2: "the third"}[down], func(t *testing.T) {
			processes := newProcesses(t, 3, memstores(3), quorum.WithTimeout(100*time.Millisecond))
			tree := newTree(t)
			held := ask(tree, x("/a"))
			take(t, processes[0].store, held)
			var line []*waiter
			for i := range 12 {
				line = append(line, queue(t, processes[i%3].store, ask(tree, x("/a"))))
			}
			release(t, processes[0].store, held)
			for i, w := range line {
				for _, p := range processes {
					p.links[down].set([]mode{refusing, hanging, open, deaf}[i%4])
				}
				w.granted()
				for j, later := range line[i+1:] {
					select {
					case <-later.done:
						t.Fatalf("waiter %d has ended before waiter %d: %v", i+1+j, i, later.err)
					default:
					}
				}
				if _, err := processes[(i+1)%3].store.Acquire(t.Context(), ask(tree, x("/a"))); err == nil {
					t.Fatalf("a newcomer is granted what waiter %d holds", i)
				}
				release(t, processes[i%3].store, w.req)
			}
		})
	}
}

// TestLeadFallsSilent: a request that waits in the queue of a member that falls silent waits in
// that of the next one, and its caller is told once that it waits.
func TestLeadFallsSilent(t *testing.T) {
	processes := newProcesses(t, 2, memstores(3), quorum.WithTimeout(100*time.Millisecond))
	held := ask(newTree(t), x("/a"))
	take(t, processes[0].store, held)
	// A second call of Waiting would close a closed channel.
	w := queue(t, processes[1].store, ask(held.Tree, x("/a")))
	for _, p := range processes {
		p.links[0].set(hanging)
	}
	over := time.After(generous)
	for queued := false; !queued; {
		snap, err := processes[1].store.Snapshot(t.Context(), held.Tree)
		if err != nil {
			t.Fatal(err)
		}
		queued = len(snap.Waiters) == 1
		select {
		case <-over:
			t.Fatal("it does not wait with the next member")
		default:
		}
	}
	release(t, processes[0].store, held)
	w.granted()
	release(t, processes[1].store, w.req)
}

// TestClose: it ends the calls that are under way, and whatever is left in the background.
func TestClose(t *testing.T) {
	links, members := links(memstores(3))
	s, err := quorum.New(members)
	if err != nil {
		t.Fatal(err)
	}
	held := ask(newTree(t), x("/a"))
	take(t, s, held)
	w := queue(t, s, ask(held.Tree, x("/a")))
	links[2].set(hanging)
	if err := s.Release(t.Context(), held.Tree, "nobody", "nothing"); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("Release: %v, want ErrNotHeld", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), generous)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if <-w.done; !errors.Is(w.err, pathlock.ErrClosed) {
		t.Errorf("who waited is told %v, want ErrClosed", w.err)
	}
	if _, err := s.Acquire(t.Context(), held); !errors.Is(err, pathlock.ErrClosed) {
		t.Errorf("Acquire on a closed store: %v, want ErrClosed", err)
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// TestNewRefuses: an even number, and what is no independent store.
func TestNewRefuses(t *testing.T) {
	one := memstores(1)[0]
	for name, stores := range map[string][]pathlock.Store{
		"none":      nil,
		"two":       memstores(2),
		"sixteen":   memstores(16),
		"seventeen": memstores(17),
		"nil":       {nil, memstores(1)[0], memstores(1)[0]},
		"one twice": {one, one, memstores(1)[0]},
	} {
		if _, err := quorum.New(stores); !errors.Is(err, quorum.ErrMembers) {
			t.Errorf("%s: %v, want ErrMembers", name, err)
		}
	}
}
