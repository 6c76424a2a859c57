package ticketstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// closing is a backend that can be closed.
type closing struct {
	*process
	closed chan struct{}
	err    error
}

func (c *closing) Close() error {
	close(c.closed)
	return c.err
}

// TestClose_ClosesTheBackend: when nothing uses it any more, however the call of Close has ended.
// Calls under way end as soon as the backend lets them.
func TestClose_ClosesTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := func(change func(*process)) (*closing, pathlock.Store, <-chan error) {
			backend := &closing{newProcess(newDrawer()), make(chan struct{}), errors.New("already gone")}
			s, asked := ticketstore.New("memory", backend, time.Minute), make(chan error, 1)
			change(backend.process)
			go func() { asked <- testerr.Of(s.Acquire(t.Context(), testlock.Ask(testlock.Tree(t), testlock.X("/a")))) }()
			synctest.Wait()
			return backend, s, asked
		}
		backend, s, asked := open((*process).stop)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		testerr.Is(t, "Close in a context that has ended", s.Close(ctx), context.Canceled)
		testerr.Is(t, "what does not end", <-asked, pathlock.ErrUnavailable)
		select {
		case <-backend.closed:
			t.Error("the backend is closed while a call uses it")
		default:
		}
		backend.resume()
		<-backend.closed

		backend, s, asked = open(func(p *process) { p.abandons = true })
		began := time.Now()
		testerr.Is(t, "Close", s.Close(t.Context()), backend.err)
		testerr.Is(t, "what is under way", <-asked, pathlock.ErrClosed)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// sweeping is a backend in which trees leave something behind.
type sweeping struct {
	*process
	sweeps int
}

func (b *sweeping) Sweep(context.Context) error {
	b.sweeps++
	return nil
}

// TestSweep_followsUpdates: one now and then, and none without an update.
func TestSweep_followsUpdates(t *testing.T) {
	inBubble(t, func(s *fixture) {
		b := &sweeping{process: newProcess(s.drawer)}
		store := ticketstore.New("memory", b, time.Minute)
		defer func() { _ = store.Close(s.Context()) }()
		for want := range 3 {
			s.takes(store, "owner", "/a")
			s.releases(store, "owner")
			synctest.Wait()
			if b.sweeps != want {
				s.Errorf("there were %d sweeps, want %d", b.sweeps, want)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestProcess_stopsForLongerThanItsLeases: what it held is lost, whether or not somebody else has
// it by then, and no renewal brings it back. It asks again for whatever it waits for.
func TestProcess_stopsForLongerThanItsLeases(t *testing.T) {
	for _, others := range []bool{false, true} {
		inBubble(t, func(s *fixture) {
			_, store := s.process()
			p, stopped := s.process()
			s.takes(stopped, "holder", "/a")
			s.takes(store, "other", "/b")
			waits := s.begin(s.Context(), stopped, s.ask("waiter", "/b"))
			p.stop()
			time.Sleep(2 * s.ask("waiter", "/b").Lease)
			if others {
				s.takes(store, "next", "/a")
				s.takes(store, "other", "/b")
			}
			p.resume()
			lost, err := stopped.Renew(s.Context(), s.tree, []pathlock.Lease{{Owner: "holder", For: time.Minute}})
			if err != nil || len(lost) != 1 {
				t.Errorf("the renewal: %v are lost, error %v; want the holder", lost, err)
			}
			if others {
				s.releases(store, "other")
				s.releases(store, "next")
			}
			testerr.Is(t, "the wait", <-waits, nil)
			s.releases(stopped, "waiter")
			s.isEmpty()
		})
	}
}
