package etcdstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// reading is what a tree's keys held at one revision.
type reading struct {
	tree     pathlock.Tree
	revision int64
	// guard is the guard's value, and guarded its mod revision, 0 if there is none.
	guard   guard
	guarded int64
	records []*record
	byKey   map[string]*record
}

// record is a ticket's key.
type record struct {
	key string
	// created identifies the ticket, and modified what was read of it.
	created, modified int64
	lease             clientv3.LeaseID
	// stored is the ticket as it was written. Its times are by the clock of its home.
	stored ticketstore.Ticket
	// shown is the ticket as this process is to see it: see backend.show.
	shown ticketstore.Ticket
}

// isHold reports whether the ticket is a detached hold, whose etcd lease is its own.
func (r *record) isHold() bool { return isHold(r.stored) }

// isHold reports whether a ticket has to outlive its process.
func isHold(t ticketstore.Ticket) bool {
	return t.State == ticketstore.Granted && t.Owner.Detached() && !t.Apart
}

// read reads a tree.
func (b *backend) read(ctx context.Context, tree pathlock.Tree) (*reading, error) {
	base := b.keys.tree(tree)
	var response *clientv3.GetResponse
	err := b.ask(ctx, fmt.Sprintf("reading %s", tree), func(ctx context.Context) error {
		var err error
		response, err = b.client.Get(ctx, base, clientv3.WithRange(rangeOf(base)))
		return err
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return b.newReading(tree, response.Header.Revision, response.Kvs)
}

func (b *backend) newReading(tree pathlock.Tree, revision int64, kvs []*mvccpb.KeyValue) (*reading, error) {
	r := &reading{tree: tree, revision: revision, byKey: map[string]*record{}}
	for _, kv := range kvs {
		key := string(kv.Key)
		if key == b.keys.guard(tree) {
			var err error
			if r.guard, err = decodeGuard(kv.Value); err != nil {
				return nil, unreadable(tree, err)
			}
			r.guarded = kv.ModRevision
			continue
		}
		place, err := b.keys.place(key)
		if err != nil {
			return nil, unreadable(tree, err)
		}
		t, err := ticketstore.Decode(kv.Value)
		if err != nil {
			return nil, unreadable(tree, err)
		}
		t.Key, t.Place = ticketKey(place, revision), place
		rec := &record{key: key, created: kv.CreateRevision, modified: kv.ModRevision, lease: clientv3.LeaseID(kv.Lease), stored: t}
		r.records = append(r.records, rec)
		r.byKey[key] = rec
	}
	return r, nil
}

// unreadable is the error for keys that no etcdstore has written.
func unreadable(tree pathlock.Tree, err error) error {
	return fmt.Errorf("%w: etcdstore: reading %s: %w", pathlock.ErrUnavailable, tree, err)
}

// state returns what a reading shows to this process now.
func (b *backend) state(ctx context.Context, r *reading) (ticketstore.State, error) {
	ends := map[clientv3.LeaseID]time.Time{}
	for _, rec := range r.records {
		if _, ok := ends[rec.lease]; ok || !rec.isHold() || b.isHome(rec) {
			continue
		}
		end, err := b.leases.endOf(ctx, rec.lease)
		if err != nil {
			return ticketstore.State{}, err
		}
		ends[rec.lease] = end
	}
	// Leases count from here on.
	s := ticketstore.State{Began: time.Now(), Now: b.clock.now(), Fence: r.guard.Fence, Floor: uint64(max(r.revision, 0))}
	for _, rec := range r.records {
		rec.shown = b.show(rec, s.Now, ends[rec.lease])
		s.Tickets = append(s.Tickets, rec.shown)
	}
	return s, nil
}

// standIn is how far in the future a time is that stands in for one of another process: see show.
const standIn = time.Minute

// show returns a ticket as this process is to see it. end is when etcd's lease ends, for a detached
// hold of another process.
//
// A ticket's times are by its home's clock, and clocks differ. So a ticket of another process never
// ends because of a time in it: that process ends it, or etcd. Where such a time has passed by this
// process's clock, another one in the future stands in for it, and is never written.
//
// A detached hold has nobody but etcd to end it, in good time if somebody looks at it. Its end is
// the one in the ticket, unless the clocks differ so much that it cannot be.
func (b *backend) show(rec *record, now, end time.Time) ticketstore.Ticket {
	t := rec.stored
	switch {
	case b.isHome(rec):
	case rec.isHold():
		// etcd answers in whole seconds, rounded down.
		end = end.Add(-slackOf(t.Home))
		if latest := end.Add(etcdPrecision); t.Until.Before(end) || t.Until.After(latest) {
			t.Until = latest
		}
		t.OwnerUntil = t.Until
	default:
		for _, at := range []*time.Time{&t.Until, &t.OwnerUntil, &t.WaitUntil} {
			if !at.IsZero() && !at.After(now) {
				*at = now.Add(standIn)
			}
		}
	}
	return t
}

// etcdPrecision is how exactly etcd says how long a lease has left, and what the answer takes.
const etcdPrecision = time.Second + 100*time.Millisecond

// isHome reports whether the times in a ticket are by this process's clock.
func (b *backend) isHome(rec *record) bool {
	home, _, _ := strings.Cut(rec.stored.Home, slackMark)
	return home == b.home
}

// slackMark separates a process from the slack in the home of a detached hold: how much longer its
// etcd lease lasts than its own.
const slackMark = "+"

// homeOfHold returns the home of a hold that this process gives a lease of d.
func (b *backend) homeOfHold(l *lease, d time.Duration) string {
	return b.home + slackMark + strconv.FormatInt((l.ttl-d).Microseconds(), 10)
}

func slackOf(home string) time.Duration {
	_, text, _ := strings.Cut(home, slackMark)
	slack, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(slack) * time.Microsecond
}
