package etcdstore

import (
	"context"
	"fmt"
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
		if _, ok := ends[rec.lease]; ok || !rec.isHold() {
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

// show returns a ticket as this process is to see it. end is when the etcd lease of a detached hold
// ends.
//
// A ticket's times are by its home's clock, and clocks differ. So a ticket of another process never
// ends because of a time in it: that process ends it, or etcd. Where such a time has passed by this
// process's clock, another one in the future stands in for it, and is never written.
func (b *backend) show(rec *record, now, end time.Time) ticketstore.Ticket {
	t := rec.stored
	switch {
	case rec.isHold():
		// What this process believes of a hold is no more than what etcd says.
		if t.Until.After(end) || !t.Until.After(now) {
			t.Until = end
		}
		t.OwnerUntil = t.Until
	case t.Home != b.home:
		for _, at := range []*time.Time{&t.Until, &t.OwnerUntil, &t.WaitUntil} {
			if !at.IsZero() && !at.After(now) {
				*at = now.Add(standIn)
			}
		}
	}
	return t
}
