package etcdstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// renewal names a lease that an update has given to tickets. An update that extends a ticket's life
// writes a new one into it. A ticket's Home has the renewal of its own lease, and of the one that
// the owner's grants share.
//
// Clocks differ, so nobody relies on the times in tickets. A process counts a lease as ended when
// it has seen the same renewal for the whole length of the lease, by its own clock.
type renewal struct {
	// update names the update.
	update string
	// given is the length of the lease, and slack how much later its etcd lease ends.
	given, slack time.Duration
}

func (s renewal) String() string {
	return fmt.Sprintf("%s+%d+%d", s.update, s.given.Microseconds(), s.slack.Microseconds())
}

// parseRenewal undoes String.
func parseRenewal(text string) renewal {
	parts := strings.SplitN(text+"++", "+", 4)
	given, _ := strconv.ParseInt(parts[1], 10, 64)
	slack, _ := strconv.ParseInt(parts[2], 10, 64)
	return renewal{parts[0], time.Duration(given) * time.Microsecond, time.Duration(slack) * time.Microsecond}
}

// renewalsOf returns the renewals in a ticket.
func renewalsOf(t ticketstore.Ticket) (own, shared renewal) {
	one, other, _ := strings.Cut(t.Home, " ")
	return parseRenewal(one), parseRenewal(other)
}

// observations are the latest ends of the leases whose renewals this process has seen.
type observations struct {
	mu     sync.Mutex
	latest map[renewal]time.Time
	swept  int // how many were left when old ones were removed
}

// until records when a lease ends at the latest, unless that is known already, and returns the
// known end.
func (s *observations) until(one renewal, latest, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.latest[one]; ok {
		return known
	}
	s.latest[one] = latest
	if len(s.latest) > 2*s.swept+1000 {
		for old, end := range s.latest {
			if end.Before(now.Add(-time.Minute)) {
				delete(s.latest, old)
			}
		}
		s.swept = len(s.latest)
	}
	return latest
}

func (s *observations) knows(one renewal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.latest[one]
	return ok
}

// etcdPrecision is the error of etcd's answer about how long a lease has left, including the time
// that the answer takes.
const etcdPrecision = time.Second + 100*time.Millisecond

// endless is how far in the future the end of a wait appears: its own process ends it.
const endless = time.Minute

// state returns the tree as a reading shows it to this process now.
func (b *backend) state(ctx context.Context, r *reading) (ticketstore.State, error) {
	// A detached hold may be much older than this process, so etcd is asked when it ends.
	for _, rec := range r.records {
		one, _ := renewalsOf(rec.stored)
		if rec.stored.State != ticketstore.Granted || !rec.stored.Owner.Detached() || b.observed.knows(one) {
			continue
		}
		left, err := b.left(ctx, rec.lease)
		if err != nil {
			return ticketstore.State{}, err
		}
		now := b.clock.now()
		b.observed.until(one, now.Add(min(one.given, left+etcdPrecision-one.slack)), now)
	}
	s := ticketstore.State{Now: b.clock.now(), Fence: r.fence, Floor: uint64(max(r.revision, 0)), MostOfOwner: b.mostOfOwner(), Reserved: r.reserved}
	for _, rec := range r.records {
		own, shared := renewalsOf(rec.stored)
		t := &rec.shown
		*t = rec.stored
		t.Until = r.show(rec, end{own, rec.stored.Until, rec.lease}, b.observed.until(own, s.Now.Add(own.given), s.Now), s.Now)
		if !t.OwnerUntil.IsZero() {
			t.OwnerUntil = r.show(rec, end{shared, rec.stored.OwnerUntil, rec.lease}, b.observed.until(shared, s.Now.Add(shared.given), s.Now), s.Now)
		}
		if !t.WaitUntil.IsZero() {
			t.WaitUntil = s.Now.Add(endless)
		}
		s.Tickets = append(s.Tickets, *t)
	}
	return s, nil
}

// end is the end of a lease as it was read.
type end struct {
	renewal renewal
	// written is by the clock of the process that has given the lease.
	written time.Time
	lease   clientv3.LeaseID
}

// shownEnd is the end of a lease as state has shown it: of an owner's tickets, or of one of them.
// If several leases are shown to end at the same time, a ticket's own counts first.
type shownEnd struct {
	owner pathlock.Owner
	place uint64 // 0 for all
	at    int64  // in µs
}

// show returns the end of a lease as a reading shows it: the written time, or the latest possible
// moment if the written time has passed here or is later than that. It records the result.
func (r *reading) show(rec *record, e end, latest, now time.Time) time.Time {
	at := latest
	if e.written.After(now) && e.written.Before(latest) {
		at = e.written
	}
	r.ends[shownEnd{rec.stored.Owner, 0, at.UnixMicro()}] = e
	r.ends[shownEnd{rec.stored.Owner, rec.stored.Place, at.UnixMicro()}] = e
	return at
}
