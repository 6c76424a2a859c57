package zkstore

import (
	"time"

	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

// covers reports whether a session is certain to outlive a lease that is promised now, whatever
// happens to this process and to the server that it is connected to.
//
// A session's time-out runs from the last sign of life that the leader has had. That is not this
// moment: a follower passes on signs of life twice in each tick, and takes those that it has not
// passed on with it when it dies. So the client gives signs of life at an interval longer than
// that, and counts from the last but one that was answered.
func covers(session zk.Session, now time.Time, lease time.Duration) bool {
	return session.ID != 0 && lease <= session.Timeout-now.Sub(session.Proven)
}

// ephemeral reports whether a new ticket is to go with its process's session. Otherwise it is a
// persistent znode that ends with its lease: one that has to outlive its process, or whose lease is
// longer than the session is certain to live. A ticket must not go before its lease has ended.
func ephemeral(t ticketstore.Ticket, session zk.Session, state ticketstore.State) bool {
	return !t.Owner.Detached() && covers(session, time.Now(), remaining(t, state))
}

// stays reports whether an ephemeral ticket may stay one, in the session that it has. One whose end
// is not put off was covered before.
func stays(old entry, t ticketstore.Ticket, session zk.Session, state ticketstore.State) bool {
	if t.Owner.Detached() {
		return false
	}
	if !t.Ends().After(old.ticket.Ends()) {
		return true
	}
	return old.session == session.ID && covers(session, time.Now(), remaining(t, state))
}

// remaining returns how long a ticket's lease lasts at most.
func remaining(t ticketstore.Ticket, state ticketstore.State) time.Duration {
	return t.Ends().Sub(state.Now)
}
