package ticketstore

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// Ticket is one request in a tree, from its arrival to its release. [Encode] and [Decode] carry all
// of it but Key, so a backend may keep it as one text.
type Ticket struct {
	// Key is the backend's own name of the ticket, empty while it has not been written.
	Key string
	// Home is the backend's own name of the process that waits, if it needs one. The backend sets
	// it when it writes the ticket for the first time.
	Home string

	// Place is the ticket's place in the order of arrival. No two tickets of a tree have the same.
	Place  uint64
	Owner  pathlock.Owner
	Grant  pathlock.GrantID
	Gate   bool
	Apart  bool
	Claims []pathlock.Claim
	Note   string
	Lease  time.Duration
	State  TicketState
	Fence  uint64
	Since  time.Time
	// Until is when the ticket's lease ends, by the clock that all processes share. While the
	// ticket waits, the lease runs from its process's last sign of life.
	Until time.Time
	// OwnerUntil is when the lease ends that the owner's grants share, zero while the ticket waits.
	// It is Until, too, unless the grant is apart.
	OwnerUntil time.Time
	// WaitUntil is when the wait ends.
	WaitUntil time.Time
	// Held says that the ticket rests on others of its owner: a waiting one on any that hold, and
	// one that is apart on those that are not. If these go without a release, the ticket ends.
	Held bool
	// Looks counts how often the process has been told to look at the ticket while it waits:
	// because the lease of one that it waits for ends earlier than it did.
	Looks uint64
	// Reason is why the wait was Refused, in a form of this package's own.
	Reason []byte
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
