package ticketstore

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Ticket is one request in a tree, from its arrival to its release. [Encode] and [Decode] carry all
// of it but Key, so a backend may keep it as one text.
type Ticket struct {
	// Key is the backend's own name of the ticket, empty while it has not been written.
	Key string `json:"-"`
	// Home is the backend's own name of the process that waits, if it needs one. The backend sets
	// it when it writes the ticket for the first time.
	Home string `json:"home,omitempty"`

	// Place is the ticket's place in the order of arrival. No two tickets of a tree have the same.
	Place  uint64           `json:"place"`
	Owner  pathlock.Owner   `json:"owner"`
	Grant  pathlock.GrantID `json:"grant"`
	Gate   bool             `json:"gate,omitempty"`
	Apart  bool             `json:"apart,omitempty"`
	Claims []pathlock.Claim `json:"claims,omitempty"`
	Note   string           `json:"note,omitempty"`
	Origin pathlock.Origin  `json:"origin,omitzero"`
	Lease  time.Duration    `json:"lease"`
	State  TicketState      `json:"state"`
	Fence  uint64           `json:"fence,omitempty"`
	Since  time.Time        `json:"since,omitzero"`
	// Until is when the ticket's lease ends, by the clock that all processes share. While the
	// ticket waits, the lease runs from its process's last sign of life.
	Until time.Time `json:"until,omitzero"`
	// OwnerUntil is when the lease ends that the owner's grants share, zero while the ticket waits.
	// It is Until, too, unless the grant is apart.
	OwnerUntil time.Time `json:"owner_until,omitzero"`
	// WaitUntil is when the wait ends.
	WaitUntil time.Time `json:"wait_until,omitzero"`
	// Held says that the ticket rests on others of its owner: a waiting one on any that hold, and
	// one that is apart on those that are not. If these go without a release, the ticket ends.
	Held bool `json:"held,omitempty"`
	// Looks counts how often the process has been told to look at the ticket while it waits:
	// because the lease of one that it waits for ends earlier than it did.
	Looks uint64 `json:"looks,omitempty"`
	// Refusal is why the wait was Refused.
	Refusal *Refusal `json:"refusal,omitempty"`
}

// TicketState says what has become of a ticket.
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

// Refusal is why a wait has ended without a grant: it was lost, or would have been a deadlock.
type Refusal struct {
	Lost     string    `json:"lost,omitempty"`
	Deadlock *deadlock `json:"deadlock,omitempty"`
}

// deadlock is a [pathlock.DeadlockError] but for the tree.
type deadlock struct {
	Path    pathlock.Path
	Mode    pathlock.Mode
	Gate    bool
	Blocker pathlock.Blocker
}

// refusalOf returns an error of a wait as its own process is told of it.
func refusalOf(err error) *Refusal {
	if d, ok := errors.AsType[*pathlock.DeadlockError](err); ok {
		return &Refusal{Deadlock: &deadlock{d.Path, d.Mode, d.Gate, d.Blocker}}
	}
	return &Refusal{Lost: strings.TrimPrefix(err.Error(), pathlock.ErrLost.Error()+": ")}
}

// in returns the error of a refusal in a tree.
func (r *Refusal) in(tree pathlock.Tree) error {
	switch {
	case r == nil:
		return fmt.Errorf("%w: the wait in %s was ended", pathlock.ErrLost, tree)
	case r.Deadlock == nil:
		return fmt.Errorf("%w: %s", pathlock.ErrLost, r.Lost)
	default:
		d := r.Deadlock
		return &pathlock.DeadlockError{Tree: tree, Path: d.Path, Mode: d.Mode, Gate: d.Gate, Blocker: d.Blocker}
	}
}
