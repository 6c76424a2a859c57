package etcdstore

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
)

// page is how many keys Trees reads at once.
const page = 1000

// Trees implements [ticketstore.Backend]. It reads all tickets of the store, in pages, as they were
// at one revision.
func (b *backend) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	var trees []pathlock.Tree
	// The keys of one tree follow each other.
	var current pathlock.Tree
	var kvs []*mvccpb.KeyValue
	revision := int64(0)
	finish := func() error {
		if len(kvs) == 0 {
			return nil
		}
		live, err := b.isLive(ctx, current, revision, kvs)
		if live {
			trees = append(trees, current)
		}
		kvs = nil
		return err
	}
	from, end := b.keys.prefix, rangeOf(b.keys.prefix)
	for more := true; more; {
		var response *clientv3.GetResponse
		err := b.ask(ctx, "listing the trees", func(ctx context.Context) error {
			var err error
			response, err = b.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page), clientv3.WithRev(revision))
			return err
		})
		if err != nil {
			return nil, unavailable(err)
		}
		if revision == 0 {
			revision = response.Header.Revision
		}
		for _, kv := range response.Kvs {
			from = string(kv.Key) + "\x00"
			tree, ticket, err := b.keys.treeOf(string(kv.Key))
			if err != nil || !ticket {
				continue // a guard, or a key of somebody else's
			}
			if tree != current {
				if err := finish(); err != nil {
					return nil, err
				}
				current = tree
			}
			kvs = append(kvs, kv)
		}
		more = response.More
	}
	return trees, finish()
}

// isLive reports whether a tree with these tickets has a live one.
func (b *backend) isLive(ctx context.Context, tree pathlock.Tree, revision int64, kvs []*mvccpb.KeyValue) (bool, error) {
	r, err := b.newReading(tree, revision, kvs, nil)
	if err != nil {
		return false, err
	}
	state, err := b.state(ctx, r)
	if err != nil {
		return false, err
	}
	for _, t := range state.Tickets {
		if t.Live(state.Now) {
			return true, nil
		}
	}
	return false, nil
}
