package etcdstore

import (
	"context"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// reading is what a tree's keys held at one revision.
type reading struct {
	tree     pathlock.Tree
	revision int64
	// fence is the guard's value, the latest fence of the trees that share it, and guarded its mod
	// revision, 0 if there is none.
	fence   uint64
	guarded int64
	records []*record
	// reserved says that a process has reserved the next update.
	reserved bool
	// ends are the ends of leases as they were read, by what state has shown for them.
	ends map[shownEnd]end
}

// record is a ticket's key.
type record struct {
	key string
	// modified identifies the version of the ticket that was read.
	modified int64
	lease    clientv3.LeaseID
	// stored is the ticket as it was written. Its times are by the clocks of those who wrote them.
	stored ticketstore.Ticket
	// shown is the ticket as this process should see it: see backend.state.
	shown ticketstore.Ticket
}

// read reads a tree.
func (b *backend) read(ctx context.Context, tree pathlock.Tree) (*reading, error) {
	var response *clientv3.TxnResponse
	err := b.ask(ctx, fmt.Sprintf("reading %s", tree), func(ctx context.Context) (err error) {
		response, err = b.client.Txn(ctx).Then(clientv3.OpGet(b.keys.tree(tree), clientv3.WithPrefix()), clientv3.OpGet(b.keys.guard(tree)), clientv3.OpGet(b.keys.reservation(tree))).Commit()
		return err
	})
	if err != nil {
		return nil, err
	}
	r := &reading{tree: tree, revision: response.Header.Revision, ends: map[shownEnd]end{}}
	r.reserved = len(response.Responses[2].GetResponseRange().Kvs) > 0
	for _, kv := range response.Responses[1].GetResponseRange().Kvs {
		if r.fence, err = strconv.ParseUint(string(kv.Value), 10, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", tree, err)
		}
		r.guarded = kv.ModRevision
	}
	return r, r.add(b, response.Responses[0].GetResponseRange().Kvs)
}

// add adds tickets.
func (r *reading) add(b *backend, kvs []*mvccpb.KeyValue) error {
	for _, kv := range kvs {
		place, err := b.keys.place(string(kv.Key))
		if err != nil {
			return fmt.Errorf("%s: %w", r.tree, err)
		}
		t, err := b.decoder.Ticket(kv.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", r.tree, err)
		}
		t.Key, t.Place = ticketKey(place, r.revision), place
		r.records = append(r.records, &record{
			key: string(kv.Key), modified: kv.ModRevision, lease: clientv3.LeaseID(kv.Lease), stored: t,
		})
	}
	return nil
}

// at returns the record of a place, nil if there is none.
func (r *reading) at(place uint64) *record {
	for _, rec := range r.records {
		if rec.stored.Place == place {
			return rec
		}
	}
	return nil
}
