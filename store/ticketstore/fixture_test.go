package ticketstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// process is a process's connection to a drawer, which does to updates what a test wants.
type process struct {
	*drawer
	// late is how far the process's idea of the server's clock may be off.
	late time.Duration

	mu sync.Mutex
	// limit is how many tickets an update may write, and largest how many bytes, 0 if there is no
	// limit.
	limit, largest int
	updates        int // how many there were
	// answers is closed while the server answers. It heeds no context meanwhile.
	answers chan struct{}
	// dead says that there is no connection any more, and refuses that nothing is written.
	dead, refuses bool
	// With loses, the reply to the next update is lost. With repeats, the update is called again
	// then. With abandons, its call ends with its
	// context before the server carries the update out: land does so later, if no other update has
	// come in between, and reports whether.
	loses, repeats, abandons bool
	land                     func() bool
}

func newProcess(d *drawer) *process {
	p := &process{drawer: d, answers: make(chan struct{})}
	close(p.answers)
	return p
}

// set changes what is done to calls from now on.
func (p *process) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// stop keeps the server from answering until resume is called.
func (p *process) stop() { p.set(func() { p.answers = make(chan struct{}) }) }

func (p *process) resume() {
	p.set(func() {
		select {
		case <-p.answers:
		default:
			close(p.answers)
		}
	})
}

// reach waits until the server answers, and fails if it cannot be reached.
func (p *process) reach() error {
	p.mu.Lock()
	answers, dead := p.answers, p.dead
	p.mu.Unlock()
	<-answers
	if dead {
		return fmt.Errorf("%w: the connection is gone", pathlock.ErrUnavailable)
	}
	return nil
}

func (p *process) Limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

func (p *process) Update(ctx context.Context, tree pathlock.Tree, latest bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	p.mu.Lock()
	if !latest {
		p.updates++
	}
	limit, largest, loses, repeats, abandons, full := p.limit, p.largest, p.loses, p.repeats, p.abandons, p.refuses
	p.loses, p.repeats, p.abandons = loses && !latest, repeats && !latest, false
	p.mu.Unlock()
	if abandons {
		return false, p.abandon(ctx, tree, change)
	}
	if err := p.reach(); err != nil {
		return false, err
	}
	var refused error
	done, err := p.drawer.Update(ctx, tree, latest, func(state ticketstore.State) ticketstore.Changes {
		state.Now, state.ClockError = state.Now.Add(-p.late), p.late
		c := change(state)
		if !latest { // as if another process had been faster
			return ticketstore.Changes{}
		}
		if full {
			refused = fmt.Errorf("%w: nothing can be written", pathlock.ErrUnavailable)
		}
		if limit > 0 && len(c.Put)+len(c.Delete) > limit {
			refused = fmt.Errorf("%w: %d tickets in one step", pathlock.ErrInvalidRequest, len(c.Put)+len(c.Delete))
		}
		bytes := 0
		for _, t := range c.Put {
			if bytes += len(ticketstore.Encode(t)); largest > 0 && bytes > largest {
				refused = fmt.Errorf("%w: %d bytes in one step", pathlock.ErrInvalidRequest, bytes)
			}
			for _, kept := range state.Tickets {
				if t.Key == "" && t.Place == kept.Place {
					panic(fmt.Sprintf("the place of a new ticket is that of %+v", kept))
				}
			}
		}
		if refused != nil {
			return ticketstore.Changes{}
		}
		return c
	})
	switch {
	case refused != nil:
		return false, refused
	case loses && latest:
		return false, fmt.Errorf("%w: the reply was lost", pathlock.ErrUnavailable)
	default:
		return done && latest && !repeats, err
	}
}

func (p *process) abandon(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	p.drawer.mu.Lock()
	c, before := change(p.state(tree)), p.written
	p.drawer.mu.Unlock()
	p.land = func() bool {
		lands := false
		_, _ = p.drawer.Update(ctx, tree, true, func(ticketstore.State) ticketstore.Changes {
			if lands = p.written == before; lands {
				return c
			}
			return ticketstore.Changes{}
		})
		return lands
	}
	<-ctx.Done()
	return ctx.Err()
}

func (p *process) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := p.reach(); err != nil {
		return nil, err
	}
	return p.drawer.Trees(ctx)
}

func (p *process) Ping(context.Context) error { return p.reach() }

// fixture is a drawer in a bubble of virtual time, with a tree.
type fixture struct {
	*testing.T
	*drawer
	tree pathlock.Tree
}

func inBubble(t *testing.T, test func(s *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tree, err := pathlock.NewTree("test", "plan")
		testerr.Must(t, err)
		test(&fixture{T: t, drawer: newDrawer(), tree: tree})
	})
}

// process returns a process of its own, and its store.
func (s *fixture) process() (*process, pathlock.Store) {
	p := newProcess(s.drawer)
	store := ticketstore.New("memory", p, 5*time.Minute)
	s.Cleanup(func() { _ = store.Close(context.WithoutCancel(s.Context())) })
	return p, store
}

// ask returns a request of an owner, whose name is the grant's id too. It waits for an hour.
func (s *fixture) ask(owner, path string) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: s.tree, Owner: pathlock.Owner(owner), Grant: pathlock.GrantID(owner), Note: owner,
		Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path))), Lease: 30 * time.Second, Wait: time.Hour,
	}
}

// takes requires that an owner is granted a node, if it has to wait for it.
func (s *fixture) takes(store pathlock.Store, owner, path string) {
	s.Helper()
	testerr.None(s, testerr.Of(store.Acquire(s.Context(), s.ask(owner, path))))
}

// releases requires that the grant that takes got for an owner can be given back.
func (s *fixture) releases(store pathlock.Store, owner string) {
	s.Helper()
	testerr.None(s, store.Release(s.Context(), s.tree, pathlock.Owner(owner), pathlock.GrantID(owner)))
}

// begin makes a request in the background, and returns when it has ended or waits.
func (s *fixture) begin(ctx context.Context, store pathlock.Store, req pathlock.Acquisition) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := store.Acquire(ctx, req)
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// isEmpty fails the test unless nothing is kept of the tree.
func (s *fixture) isEmpty() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.trees[s.tree]; len(left) > 0 {
		s.Errorf("left behind: %v", left)
	}
}
