package ticketstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// Backend keeps the tickets of trees, where all processes see them. [New] makes a lock store of
// one.
//
// Any number of goroutines may call any method. Its error matches [pathlock.ErrInvalidRequest] if
// the request is more than the server takes: then nothing of it was written. Any other error tells
// callers that the store is unavailable. Its context bounds its time: see [New]. Work that goes on
// after the context has ended ends with the store. After that, the store closes a backend that is
// an [io.Closer].
type Backend interface {
	// Update reads the tickets of a tree, calls change with them, and writes what change returns,
	// in one step that is atomic beside all other updates of the tree, of whichever process. It
	// sets the Key of the new tickets in [Changes.Put]. Nothing is written if the changes are
	// empty.
	//
	// It reports false if it has to be called again: another process was faster, or a reply was
	// lost. Then change is shown what was written, if anything: a request is known by its owner and
	// grant id. It also reports false if the server that was read may be behind others, and the
	// changes are empty: only the latest state may refuse a request. Such an update is called again
	// with latest set, and reads all that was written before the call.
	Update(ctx context.Context, tree pathlock.Tree, latest bool, change func(State) Changes) (done bool, err error)

	// Trees returns the trees that have a live ticket: see [Ticket.Live].
	Trees(ctx context.Context) ([]pathlock.Tree, error)

	// Watch returns when a waiting ticket is in another state than Waiting, has other Looks, or is
	// gone, or when the ticket before it is gone, even if that has happened before the call. It
	// also returns when ctx ends, and may return at any other time, though not all the time: the
	// ticket is looked at then. A backend that can be sure that every deletion comes from an Update
	// may ignore before: updates change the state of the tickets that they let in.
	Watch(ctx context.Context, tree pathlock.Tree, ticket, before Ticket)

	// Limit is how many tickets one Update can write, 0 if there is no limit.
	Limit() int

	// Ping reports whether the server can serve.
	Ping(ctx context.Context) error
}

// State is what a tree holds at one instant.
type State struct {
	// Tickets are in no particular order. Those that the server has ended by itself are not among
	// them.
	Tickets []Ticket
	// Now is the time by the clock that all processes share, which is the server's. If it is not
	// known exactly, Now is the earliest that it can be, and Now plus ClockError the latest: a
	// lease begins late and ends late.
	Now        time.Time
	ClockError time.Duration
	// Fence is the latest fence on record in the tree, 0 if there is none.
	Fence uint64
	// Floor is less than every fence that a grant of the tree may get now. It makes fences grow
	// even if a tree was empty, and nothing is on record.
	Floor uint64
	// MostWaiters is how many requests may wait in the tree, 0 for any number.
	MostWaiters int
	// MostOfOwner is how many requests an owner may have in the tree, granted or waiting, 0 for any
	// number. All grants of an owner share a lease, so one update may have to write all of them,
	// and a few other tickets beside them.
	MostOfOwner int
	// Reserved says that a process has reserved the next update: see [New].
	Reserved bool
}

// Changes are what an Update writes.
type Changes struct {
	// Put are tickets to write: new ones, whose Key is empty, and changed ones.
	Put []Ticket
	// Delete are tickets to remove.
	Delete []Ticket
	// Woken are those of Put that waited and have ended their wait, or have other Looks: their
	// processes are to be told.
	Woken []Ticket
	// Fence is the latest fence of the tree, at least that of the State.
	Fence uint64
}

// named returns a ticket with the name that it got when it was written.
func (c Changes) named(t Ticket) Ticket {
	for _, put := range c.Put {
		if put.Place == t.Place {
			t.Key, t.Home = put.Key, put.Home
		}
	}
	return t
}

// Empty reports whether there is nothing to write.
func (c Changes) Empty() bool { return len(c.Put) == 0 && len(c.Delete) == 0 }

// Ticket is one request in a tree, from its arrival to its release. [Encode] and [Decoder] carry
// all of it but Key, so a backend may keep it as one text.
type Ticket struct {
	// Key is the backend's own name of the ticket, empty while it has not been written.
	Key string `json:"-"`
	// Home is the backend's own name of the process that waits, if it needs one. The backend sets
	// it when it writes the ticket for the first time.
	Home string `json:"home,omitempty"`

	// Record is the request as lock tables know it: its Place, by which a backend may name the
	// ticket, the ends of its leases, which [Ticket.Ends] sums up, its Owner, and what a backend
	// need not know.
	locktable.Record

	State TicketState `json:"state"`
	// Looks counts how often the process has been told to look at the ticket while it waits:
	// because the lease of one that it waits for ends earlier than before.
	Looks uint64 `json:"looks,omitempty"`

	// Refusal is why the wait was Refused.
	Refusal *refusal `json:"refusal,omitempty"`
}

// TicketState is the state of a ticket.
type TicketState string

const (
	// Waiting is the state of a ticket in the queue.
	Waiting TicketState = "waiting"
	// Granted is the state of a ticket that holds.
	Granted TicketState = "granted"
	// Refused is the state of a ticket whose wait has ended without a grant. It neither holds nor
	// waits. Its process deletes it, or else the next update after the end of its lease.
	Refused TicketState = "refused"
)

// Ends returns when the ticket ends, unless its process gives a sign of life.
func (t Ticket) Ends() time.Time {
	if !t.OwnerUntil.IsZero() && t.OwnerUntil.Before(t.Until) {
		return t.OwnerUntil
	}
	return t.Until
}

// Live reports whether the ticket holds or waits at a time by the clock that all processes share.
func (t Ticket) Live(now time.Time) bool { return t.State != Refused && now.Before(t.Ends()) }

// refusal is why a wait has ended without a grant: it was lost, or would have been a deadlock.
type refusal struct {
	Lost     string    `json:"lost,omitempty"`
	Deadlock *deadlock `json:"deadlock,omitempty"`
}

// deadlock is a [pathlock.DeadlockError] but for the tree.
type deadlock struct {
	pathlock.DeadlockError
	Tree *pathlock.Tree `json:",omitempty"` // nil
}

// refusalOf returns an error of a wait as its own process is told of it.
func refusalOf(err error) *refusal {
	if d, ok := errors.AsType[*pathlock.DeadlockError](err); ok {
		return &refusal{Deadlock: &deadlock{DeadlockError: *d}}
	}
	return &refusal{Lost: strings.TrimPrefix(err.Error(), pathlock.ErrLost.Error()+": ")}
}

// in returns the error of a refusal in a tree.
func (r *refusal) in(tree pathlock.Tree) error {
	switch {
	case r == nil:
		return fmt.Errorf("%w: the wait in %s was ended", pathlock.ErrLost, tree)
	case r.Deadlock == nil:
		return fmt.Errorf("%w: %s", pathlock.ErrLost, r.Lost)
	default:
		d := r.Deadlock.DeadlockError
		d.Tree = tree
		return &d
	}
}
