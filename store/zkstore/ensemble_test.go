package zkstore

import (
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// TestEnsemble: locks outlive the death of the leader, and of a follower that hangs, with all
// waiters in their places.
func TestEnsemble(t *testing.T) {
	for name, fault := range map[string]func(t *testing.T, e *testzk.Ensemble) (heal func()){
		"the leader is killed": func(_ *testing.T, e *testzk.Ensemble) func() {
			leader := e.Leader()
			leader.Kill()
			return leader.Start
		},
		"the leader is paused": func(_ *testing.T, e *testzk.Ensemble) func() {
			leader := e.Leader()
			leader.Pause()
			return leader.Resume
		},
		"a follower is paused": func(_ *testing.T, e *testzk.Ensemble) func() {
			follower := e.Follower()
			follower.Pause()
			return follower.Resume
		},
		"the servers are killed one after the other": func(_ *testing.T, e *testzk.Ensemble) func() {
			for _, s := range e.Servers[:2] {
				s.Kill()
				s.Start()
			}
			last := e.Servers[2]
			last.Kill()
			return last.Start
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := testzk.StartEnsemble(t)
			// One client of each server, and one of all.
			stores := []*Store{newStore(t, e.Hosts(), WithTimeout(3*time.Second))}
			for _, server := range e.Servers {
				others := strings.Split(e.Hosts(), ",")
				stores = append(stores, newStore(t, server.Addr+","+strings.Join(others, ","), WithTimeout(3*time.Second)))
			}
			tree := newTree(t)
			held := ask(tree, x("/n"))
			fence := take(t, stores[0], held).Fence
			waiters := make([]*waiting, 0, len(stores))
			for _, s := range stores {
				waiters = append(waiters, queue(t, s, ask(tree, x("/n"))))
			}
			heal := fault(t, e)
			began := time.Now()
			for _, s := range stores {
				testserver.Await(t, "each client is served", func() bool { return s.Ping(t.Context()) == nil })
			}
			t.Logf("all clients are served after %v", time.Since(began).Round(time.Millisecond))
			if lost, err := stores[0].Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}}); err != nil || len(lost) != 0 {
				t.Fatalf("renew: %v are lost, error %v", lost, err)
			}
			release(t, stores[0], held)
			for i, w := range waiters {
				grant := w.granted()
				if grant.Fence <= fence {
					t.Errorf("the fence %d follows %d", grant.Fence, fence)
				}
				fence = grant.Fence
				release(t, stores[i], w.req)
			}
			heal()
			holders(t, stores[0], tree, 0)
		})
	}
}

// TestNoQuorum: a server that has lost the others serves nobody, and the store says so.
func TestNoQuorum(t *testing.T) {
	e := testzk.StartEnsemble(t)
	s := newStore(t, e.Hosts(), WithTimeout(time.Second))
	tree := newTree(t)
	held := ask(tree, x("/n"))
	take(t, s, held)
	e.Servers[0].Kill()
	e.Servers[1].Kill()
	testserver.Await(t, "the last server notices", func() bool { return e.Servers[2].Mode() == "" })
	unavailable(t, s, tree)
	e.Servers[0].Start()
	testserver.Await(t, "the store serves again", func() bool { return s.Ping(t.Context()) == nil })
	release(t, s, held)
}
