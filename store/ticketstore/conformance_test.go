package ticketstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/storetest"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// A backend that writes a few tickets and hardly knows the time.
func TestConformance(t *testing.T) {
	newBackend := func(s *server) *backend {
		b := s.backend()
		b.limit.Store(60)
		b.late = 3 * time.Millisecond
		return b
	}
	storetest.Run(t, func(t *testing.T) pathlock.Store { return open(t, newBackend(newServer())) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			server := newServer()
			alive, dying := newBackend(server), newBackend(server)
			return open(t, alive), open(t, dying), func() { close(dying.dead) }
		}))
}

// The backend of the example, which people begin with, has no limits.
func TestTheExampleConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pathlock.Store { return openExample(t, newDrawer()) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			shared := newDrawer()
			mortal := &mortalDrawer{drawer: shared, dead: make(chan struct{})}
			return openExample(t, shared), openExample(t, mortal), func() { close(mortal.dead) }
		}))
}

func openExample(t *testing.T, b ticketstore.Backend) *ticketstore.Store {
	s := ticketstore.New("drawer", b, timeout)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// mortalDrawer is a drawer that a process can be cut off from.
type mortalDrawer struct {
	*drawer
	dead chan struct{}
}

func (m *mortalDrawer) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	select {
	case <-m.dead:
		return pathlock.ErrUnavailable
	default:
		return m.drawer.Update(ctx, tree, change)
	}
}
