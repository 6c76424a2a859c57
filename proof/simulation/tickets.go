package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// ticketServer keeps the records of package ticketstore, as a database would: it compares versions,
// and so a write that was on its way for long still counts if nobody else has written.
type ticketServer struct {
	clock func() time.Time

	mu      sync.Mutex
	trees   map[pathlock.Tree]*record
	written chan struct{} // closed and replaced with each write
	fences  map[grantee]time.Time
}

// record is the server's record of a tree.
type record struct {
	version int
	fence   uint64
	tickets []ticketstore.Ticket // in the order of their places
	// reserved says that a process has reserved the next update.
	reserved bool
}

func newTicketServer(clock func() time.Time) *ticketServer {
	return &ticketServer{clock: clock, trees: make(map[pathlock.Tree]*record), written: make(chan struct{}), fences: make(map[grantee]time.Time)}
}

func (s *ticketServer) open(n *network) (pathlock.Store, func()) {
	return ticketstore.New("simulated", &tickets{s, n, n.random.Uint64(), make(map[pathlock.Tree]*rand.Rand)}, timeout), func() {}
}

func (s *ticketServer) of(tree pathlock.Tree) *record {
	if s.trees[tree] == nil {
		s.trees[tree] = new(record)
	}
	return s.trees[tree]
}

// find returns where the ticket with a place is, or would be.
func (r *record) find(place uint64) (at int, there bool) {
	return slices.BinarySearchFunc(r.tickets, place, func(t ticketstore.Ticket, place uint64) int { return cmp.Compare(t.Place, place) })
}

// read returns a tree's tickets, and their version.
func (s *ticketServer) read(tree pathlock.Tree) (ticketstore.State, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(tree)
	return ticketstore.State{Now: s.clock(), Fence: r.fence, Floor: r.fence, Reserved: r.reserved, Tickets: slices.Clone(r.tickets)}, r.version
}

// write makes changes to a version, and reports whether it was still that. It ends a reservation
// that was read with the version.
func (s *ticketServer) write(tree pathlock.Tree, version int, reserved bool, c ticketstore.Changes) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(tree)
	if r.version != version {
		return false
	}
	r.version++
	r.fence, r.reserved = max(r.fence, c.Fence), r.reserved && !reserved
	for _, t := range c.Put {
		at, there := r.find(t.Place)
		if !there {
			r.tickets = slices.Insert(r.tickets, at, t)
		}
		r.tickets[at] = t
		if t.State == ticketstore.Granted && s.fences[grantee{tree, t.Fence}].IsZero() {
			s.fences[grantee{tree, t.Fence}] = s.clock()
		}
	}
	for _, t := range c.Delete {
		if at, there := r.find(t.Place); there {
			r.tickets = slices.Delete(r.tickets, at, at+1)
		}
	}
	close(s.written)
	s.written = make(chan struct{})
	return true
}

func (s *ticketServer) forget() { s.restore(nil)() }

func (s *ticketServer) remember() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	copies := make(map[pathlock.Tree]*record)
	for tree, r := range s.trees {
		copies[tree] = &record{version: r.version, fence: r.fence, tickets: slices.Clone(r.tickets)}
	}
	return s.restore(copies)
}

// restore returns what makes the records what they were, in a version that nobody has seen.
func (s *ticketServer) restore(records map[pathlock.Tree]*record) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for tree, now := range s.trees {
			was := records[tree]
			if was == nil {
				was = new(record)
			}
			s.trees[tree] = &record{version: now.version + 1, fence: was.fence, tickets: was.tickets}
		}
	}
}

func (s *ticketServer) left() (all []string) {
	for _, tree := range trees {
		state, _ := s.read(tree)
		for _, t := range state.Tickets {
			if t.Live(state.Now) {
				all = append(all, t.Note)
			}
		}
	}
	return all
}

func (s *ticketServer) granted(tree pathlock.Tree, fence uint64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fences[grantee{tree, fence}]
}

// tickets is the backend of one instance.
type tickets struct {
	*ticketServer
	network *network
	seed    uint64
	// updates are for what happens in a tree one after the other. Whoever else draws at that moment
	// has numbers of its own.
	updates map[pathlock.Tree]*rand.Rand
}

// random returns the random numbers of the updates of a tree.
func (b *tickets) random(tree pathlock.Tree) *rand.Rand {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.updates[tree] == nil {
		b.updates[tree] = rand.New(rand.NewPCG(b.seed, uint64(slices.Index(trees, tree))))
	}
	return b.updates[tree]
}

// travel takes as long as one way over the network. It fails when ctx ends before that.
func (b *tickets) travel(ctx context.Context, random *rand.Rand) error {
	timer := time.NewTimer(b.network.takes(random))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errNoAnswer
	}
}

func (b *tickets) Update(ctx context.Context, tree pathlock.Tree, _ bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	random := b.random(tree)
	if err := b.travel(ctx, random); err != nil {
		return false, err
	}
	state, version := b.read(tree)
	if err := b.travel(ctx, random); err != nil {
		return false, err
	}
	c := change(state)
	if c.Empty() {
		return true, nil
	}
	for i := range c.Put {
		c.Put[i].Key = fmt.Sprint(c.Put[i].Place)
	}
	sent := ticketstore.Changes{Put: slices.Clone(c.Put), Delete: slices.Clone(c.Delete), Fence: c.Fence}
	answer := make(chan bool, 1)
	if b.network.breaks && random.IntN(200) == 0 { // the connection breaks: what was sent may come or not
		if random.IntN(2) == 0 {
			time.AfterFunc(b.network.takes(random), func() { b.write(tree, version, state.Reserved, sent) })
		}
		return false, errNoAnswer
	}
	time.AfterFunc(b.network.takes(random), func() { answer <- b.write(tree, version, state.Reserved, sent) })
	select {
	case written := <-answer:
		return written, b.travel(ctx, random)
	case <-ctx.Done(): // the write is on its way
		return false, errNoAnswer
	}
}

// Reserve implements what [ticketstore.New] asks a backend for.
func (b *tickets) Reserve(ctx context.Context, tree pathlock.Tree) error {
	random := b.random(tree)
	if err := b.travel(ctx, random); err != nil {
		return err
	}
	b.mu.Lock()
	b.of(tree).reserved = true
	b.mu.Unlock()
	return b.travel(ctx, random)
}

func (b *tickets) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	return trees, b.travel(ctx, b.random(pathlock.Tree{}))
}

func (b *tickets) Watch(ctx context.Context, tree pathlock.Tree, ticket, before ticketstore.Ticket) {
	for {
		b.mu.Lock()
		r := b.of(tree)
		at, there := r.find(ticket.Place)
		_, waits := r.find(before.Place)
		same := there && waits && r.tickets[at].State == ticketstore.Waiting && r.tickets[at].Looks == ticket.Looks
		written := b.written
		b.mu.Unlock()
		if !same {
			_ = b.travel(ctx, rand.New(rand.NewPCG(b.seed, ticket.Place)))
			return
		}
		select {
		case <-written:
		case <-ctx.Done():
			return
		}
	}
}

func (b *tickets) Limit() int { return 0 }

func (b *tickets) Ping(ctx context.Context) error { return b.travel(ctx, b.random(pathlock.Tree{})) }
