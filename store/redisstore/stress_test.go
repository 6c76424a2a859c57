package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// shadow is an independent record of who holds what: it knows the compatibility of modes and
// nothing else.
type shadow struct {
	mu    sync.Mutex
	holds map[pathlock.Owner][]held
}

type held struct {
	gate   bool
	claims []pathlock.Claim
	// until is before the earliest moment at which the lease can end, zero while it is renewed or
	// released.
	until time.Time
}

// grant notes a grant and returns what is wrong with it.
func (s *shadow) grant(owner pathlock.Owner, h held) (faults []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for other, all := range s.holds {
		for _, o := range all {
			if other == owner || !o.until.IsZero() && !now.Before(o.until) {
				continue
			}
			if o.gate || h.gate {
				faults = append(faults, fmt.Sprintf("%v gate %v granted beside %v gate %v", h.claims, h.gate, o.claims, o.gate))
			}
			for _, a := range h.claims {
				for _, b := range o.claims {
					if a.Path == b.Path && !pathlock.Compatible(a.Mode, b.Mode) {
						faults = append(faults, fmt.Sprintf("%v granted beside %v", a, b))
					}
				}
			}
		}
	}
	s.holds[owner] = append(s.holds[owner], h)
	return faults
}

// crash notes that an owner renews and releases no more.
func (s *shadow) crash(owner pathlock.Owner, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.holds[owner] {
		s.holds[owner][i].until = until
	}
}

func (s *shadow) forget(owner pathlock.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holds, owner)
}

// TestRandom lets many owners on two stores ask for random claims in a small tree, some for the
// gate, some several times, some giving up, some crashing, and checks each grant against the shadow
// and the whole table every now and then.
func TestRandom(t *testing.T) {
	stores := []*Store{newStore(t), newStore(t)}
	for _, crashes := range []bool{false, true} {
		t.Run(fmt.Sprintf("crashes=%v", crashes), func(t *testing.T) {
			tree := newTree(t)
			table := &shadow{holds: map[pathlock.Owner][]held{}}
			var workers sync.WaitGroup
			for i := range 12 {
				workers.Go(func() {
					w := worker{t: t, store: stores[i%2], tree: tree, table: table, crashes: crashes, rng: rand.New(rand.NewPCG(uint64(i), 7))}
					for range 25 {
						w.live()
					}
				})
			}
			workers.Wait()
			if crashes {
				pass(t, stores[0], short)
			}
			requireConsistent(t, stores[0], tree)
			if left := keysLeft(t, stores[0], tree); len(left) > 1 {
				t.Errorf("left behind: %v, want the fence alone", left)
			}
		})
	}
}

type worker struct {
	t       *testing.T
	store   *Store
	tree    pathlock.Tree
	table   *shadow
	crashes bool
	rng     *rand.Rand
}

// claims returns one to three random claims in a tree of fifteen nodes.
func (w *worker) claims() []pathlock.Claim {
	var claims []pathlock.Claim
	for range 1 + w.rng.IntN(3) {
		p := pathlock.Root()
		for range w.rng.IntN(4) {
			p, _ = p.Child(string(rune('a' + w.rng.IntN(2))))
		}
		claims = append(claims, pathlock.Claim{Path: p, Mode: pathlock.Modes()[w.rng.IntN(5)]})
	}
	return claims
}

// live is the life of one owner: up to three requests, and then the end.
func (w *worker) live() {
	lease := long
	if w.crashes {
		lease = short
	}
	owner := ask(w.tree).Owner
	var grants []pathlock.GrantID
	for range 1 + w.rng.IntN(3) {
		req := ask(w.tree, w.claims()...)
		req.Owner, req.Lease, req.Held = owner, lease, len(grants) > 0
		req.Gate = w.rng.IntN(12) == 0
		req.Wait = []time.Duration{0, 5 * time.Millisecond, long}[w.rng.IntN(3)]
		ctx, cancel := context.WithCancel(w.t.Context())
		if w.rng.IntN(6) == 0 {
			time.AfterFunc(time.Duration(w.rng.IntN(4000))*time.Microsecond, cancel)
		}
		began := time.Now()
		_, err := w.store.Acquire(ctx, req)
		cancel()
		if err == nil {
			h := held{gate: req.Gate, claims: req.Claims}
			if w.crashes {
				h.until = began.Add(lease)
			}
			for _, fault := range w.table.grant(owner, h) {
				w.t.Error(fault)
			}
			grants = append(grants, req.Grant)
			if w.rng.IntN(10) == 0 {
				requireConsistent(w.t, w.store, w.tree)
			}
			if w.crashes && w.rng.IntN(16) == 0 {
				w.table.crash(owner, h.until)
				return
			}
			continue
		}
		lost := w.crashes && errors.Is(err, pathlock.ErrLost) // nobody renews here
		if !errors.Is(err, pathlock.ErrConflict) && !errors.Is(err, pathlock.ErrDeadlock) && !errors.Is(err, context.Canceled) && !lost {
			w.t.Errorf("acquire: %v", err)
		}
		if errors.Is(err, pathlock.ErrDeadlock) || lost {
			break
		}
	}
	w.table.forget(owner)
	for _, id := range grants {
		err := w.store.Release(w.t.Context(), w.tree, owner, id)
		if err != nil && (!w.crashes || !errors.Is(err, pathlock.ErrNotHeld)) {
			w.t.Errorf("release: %v", err)
		}
	}
}
