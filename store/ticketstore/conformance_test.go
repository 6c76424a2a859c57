package ticketstore_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A backend that writes a few tickets and hardly knows the time.
func TestConformance(t *testing.T) {
	open := func(t *testing.T, d *drawer, timeout time.Duration) (*process, pathlock.Store) {
		p := newProcess(d)
		p.limit, p.late = 60, 3*time.Millisecond
		s := ticketstore.New("memory", p, timeout)
		t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
		return p, s
	}
	storetest.Run(t, func(t *testing.T) pathlock.Store {
		_, s := open(t, newDrawer(), time.Minute)
		return s
	}, storetest.Virtual(), storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
		shared := newDrawer()
		_, survivor = open(t, shared, time.Minute)
		p, victim := open(t, shared, time.Minute)
		return survivor, victim, func() { p.set(func() { p.dead = true }) }
	}), storetest.Silence(func(t *testing.T) storetest.Silent {
		shared := newDrawer()
		p, s := open(t, shared, time.Second)
		_, other := open(t, shared, time.Minute)
		t.Cleanup(p.resume)
		return storetest.Silent{Store: s, Timeout: time.Second, Stop: p.stop, Resume: p.resume, Other: other}
	}))
}
