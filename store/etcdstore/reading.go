package etcdstore

import (
	"context"
	"fmt"

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
	// remembered says that the reading is not new.
	remembered bool
}

// record is a ticket's key.
type record struct {
	key string
	// created identifies the ticket, and modified what was read of it.
	created, modified int64
	lease             clientv3.LeaseID
	// stored is the ticket as it was written. Its times are by the clock of its home.
	stored ticketstore.Ticket
	// shown is the ticket as this process is to see it: see backend.state.
	shown ticketstore.Ticket
}

// isHold reports whether a ticket is a detached hold: it has to outlive its process, and has an
// etcd lease of its own.
func isHold(t ticketstore.Ticket) bool {
	return t.State == ticketstore.Granted && t.Owner.Detached() && !t.Apart
}

// read reads a tree. before is an earlier reading, or nil: what has not changed is not decoded
// again.
func (b *backend) read(ctx context.Context, tree pathlock.Tree, before *reading) (*reading, error) {
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
	return b.newReading(tree, response.Header.Revision, response.Kvs, before)
}

func (b *backend) newReading(tree pathlock.Tree, revision int64, kvs []*mvccpb.KeyValue, before *reading) (*reading, error) {
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
		var t ticketstore.Ticket
		if old := before.unchanged(key, kv.ModRevision); old != nil {
			t = old.stored
		} else if t, err = ticketstore.Decode(kv.Value); err != nil {
			return nil, unreadable(tree, err)
		}
		t.Key, t.Place = ticketKey(place, revision), place
		rec := &record{key: key, created: kv.CreateRevision, modified: kv.ModRevision, lease: clientv3.LeaseID(kv.Lease), stored: t}
		r.records = append(r.records, rec)
		r.byKey[key] = rec
	}
	return r, nil
}

// unchanged returns the record of a key as it was at a revision, nil if it is not in the reading.
func (r *reading) unchanged(key string, modified int64) *record {
	if r == nil {
		return nil
	}
	if rec := r.byKey[key]; rec != nil && rec.modified == modified {
		return rec
	}
	return nil
}

// unreadable is the error for keys that no etcdstore has written.
func unreadable(tree pathlock.Tree, err error) error {
	return fmt.Errorf("%w: etcdstore: reading %s: %w", pathlock.ErrUnavailable, tree, err)
}
