package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Silent is a store whose server can fall silent.
type Silent struct {
	// Store is the store, and Timeout its time-out.
	Store   pathlock.Store
	Timeout time.Duration
	// Stop makes the server do nothing, and Resume makes it go on, with what was sent to it
	// meanwhile.
	Stop, Resume func()
	// Other is another client of the server, which always reaches it.
	Other pathlock.Store
	// Reads is set if the server still answers what changes nothing, such as that there is nothing
	// to release.
	Reads bool
}

// Silence adds tests with a server that falls silent. It can be given several times. newSilent
// registers with t.Cleanup what has to be done afterwards, Resume included.
func Silence(newSilent func(t *testing.T) Silent) Option {
	return func(s *suite) { s.silent = append(s.silent, newSilent) }
}

// slack is how much later than it should a call may end on a busy machine.
const slack = time.Second

// silences is about a server that does not answer: calls end in time, and what they have asked for
// is granted to nobody when the server goes on.
func (r *suite) silences() topic {
	t := topic{name: "silence"}
	for i, newSilent := range r.silent {
		for _, wait := range []time.Duration{0, 500 * time.Millisecond} {
			t.promises = append(t.promises, promise{fmt.Sprintf("%d: an acquisition that waits for %v ends in time", i+1, wait), func(f *fixture) {
				s := newSilent(f.T)
				a := r.newFixture(f.T, s.Store).actor("asker")
				a.takes(x("/b")).release() // it has connected
				req := a.ask(x("/a"))
				req.Lease, req.Wait = 6*time.Second, wait
				s.Stop()
				a.endsInTime(s, "Acquire", wait, func() error { _, err := s.Store.Acquire(f.ctx, req); return err })
				s.Resume()
				a.isSoonFree(s)
			}})
		}
		t.promises = append(t.promises, promise{fmt.Sprintf("%d: an acquisition ends sooner by what its earlier tries have spent", i+1), func(f *fixture) {
			s := newSilent(f.T)
			f = r.newFixture(f.T, s.Store)
			first, again := f.actor("first"), f.actor("again")
			first.takes(x("/b")).release()
			s.Stop()
			whole := make(chan struct{})
			go func() {
				defer close(whole)
				first.endsInTime(s, "Acquire", 0, func() error { _, err := s.Store.Acquire(f.ctx, first.ask(x("/a"))); return err })
			}()
			req := again.ask(x("/c"))
			req.Spent = s.Timeout * 4 / 5
			again.endsInTime(s, "Acquire", 0, func() error { _, err := s.Store.Acquire(f.ctx, req); return err })
			select {
			case <-whole:
				again.Errorf("a call that had spent %v took the whole time-out of %v", req.Spent, s.Timeout)
			default:
			}
			<-whole
			s.Resume()
			again.isSoonFree(s)
		}}, promise{fmt.Sprintf("%d: what was refused is granted to nobody, however long the silence was", i+1), func(f *fixture) {
			s := newSilent(f.T)
			a := r.newFixture(f.T, s.Store).actor("asker")
			a.takes(x("/b")).release()
			req := a.ask(x("/a"))
			req.Lease = soon + time.Second/2
			s.Stop()
			a.endsInTime(s, "Acquire", 0, func() error { _, err := s.Store.Acquire(f.ctx, req); return err })
			time.Sleep(req.Lease + 2*s.Timeout)
			s.Resume()
			a.isSoonFree(s)
		}}, promise{fmt.Sprintf("%d: a wait ends in time", i+1), func(f *fixture) {
			s := newSilent(f.T)
			f = r.newFixture(f.T, s.Store)
			holder, a := f.actor("holder").takes(x("/a")), f.actor("asker")
			req := a.ask(x("/a"))
			req.Lease, req.Wait = 6*time.Second, 2*time.Second
			req.Waiting = s.Stop
			a.endsInTime(s, "Acquire", req.Wait, func() error { _, err := s.Store.Acquire(f.ctx, req); return err })
			a.resumes(s)
			holder.release()
			a.isSoonFree(s)
		}}, promise{fmt.Sprintf("%d: all other calls end in time", i+1), func(f *fixture) {
			s := newSilent(f.T)
			f = r.newFixture(f.T, s.Store)
			h := f.actor("holder").takes(x("/a"))
			s.Stop()
			for range 2 { // with the connections that there are, and without
				var all sync.WaitGroup
				for name, call := range f.calls(h) {
					all.Go(func() {
						if reads := []string{"Snapshot", "Trees", "Ping"}; !s.Reads || !slices.Contains(reads, name) {
							h.endsInTime(s, name, 0, call)
						} else if err := h.inTime(s, name, 0, call); err != nil {
							h.Errorf("%s: %v", name, err)
						}
					})
				}
				all.Wait()
			}
			h.resumes(s)
			h.release()
		}})
	}
	return t
}

// calls are all calls of a store but acquisitions, for a holder's owner.
func (f *fixture) calls(h *grant) map[string]func() error {
	return map[string]func() error{
		"Release":      func() error { return f.store.Release(f.ctx, f.tree, h.owner, "another") },
		"ForceRelease": func() error { return f.store.ForceRelease(f.ctx, f.tree, "nobody") },
		"Renew": func() error {
			_, err := f.store.Renew(f.ctx, f.tree, []pathlock.Lease{{Owner: h.owner, For: long}})
			return err
		},
		"Transfer": func() error {
			_, err := f.store.Transfer(f.ctx, pathlock.Transfer{Tree: f.tree, From: h.owner, To: h.owner, Lease: long})
			return err
		},
		"Snapshot": func() error { _, err := f.store.Snapshot(f.ctx, f.tree); return err },
		"Trees":    func() error { _, err := f.store.Trees(f.ctx); return err },
		"Ping":     func() error { return f.store.Ping(f.ctx) },
	}
}

// resumes makes the server go on, and waits until the store has found it again.
func (a *actor) resumes(s Silent) {
	a.Helper()
	s.Resume()
	end := time.Now().Add(10 * soon)
	for err := s.Store.Ping(a.ctx); err != nil; err = s.Store.Ping(a.ctx) {
		if time.Now().After(end) {
			a.Fatalf("the server has gone on, and the store does not find it: %v", err)
		}
	}
}

// endsInTime requires that a call of a store whose server is silent ends its wait plus the store's
// time-out after it began, at the latest.
func (a *actor) endsInTime(s Silent, name string, wait time.Duration, call func() error) {
	a.Helper()
	if err := a.inTime(s, name, wait, call); !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, pathlock.ErrConflict) &&
		(!s.Reads || !errors.Is(err, pathlock.ErrNotHeld)) || errors.Is(err, context.DeadlineExceeded) {
		a.Errorf("%s: the error is %v, want one that matches ErrUnavailable, and no context's", name, err)
	}
}

// inTime requires of a call its end in time alone, and returns its error.
func (a *actor) inTime(s Silent, name string, wait time.Duration, call func() error) error {
	a.Helper()
	began := time.Now()
	err := call()
	if took := time.Since(began); took > wait+s.Timeout+slack {
		a.Errorf("%s: a call that waits for %v took %v, with a time-out of %v", name, wait, took, s.Timeout)
	}
	return err
}

// soon is how long a store may take to give back what nobody has.
const soon = 2 * time.Second

// isSoonFree requires that nobody holds anything, or waits, soon after the server has gone on.
func (a *actor) isSoonFree(s Silent) {
	a.Helper()
	var seen pathlock.Snapshot
	var quiet time.Time
	for end := time.Now().Add(soon); !quiet.IsZero() || time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var err error
		if seen, err = s.Other.Snapshot(a.ctx, a.tree); err != nil {
			a.Fatal(err)
		}
		switch {
		case len(seen.Holders)+len(seen.Waiters) > 0:
			quiet = time.Time{}
		case quiet.IsZero():
			quiet = time.Now()
		case time.Since(quiet) > time.Second:
			return
		}
	}
	a.Errorf("what was refused is there: holders %v, waiters %v", seen.Holders, seen.Waiters)
}
