package etcdstore

import (
	"context"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Owns returns the conditions under which a lock of this store is held, for a transaction of one's
// own in the same etcd:
//
//	held, err := store.Owns(ctx, lock)
//	if err != nil {
//		return err
//	}
//	response, err := client.Txn(ctx).If(held...).Then(clientv3.OpPut(key, value)).Commit()
//	// response.Succeeded is false, and nothing is written, if the lock was lost before.
//
// There is one condition for each grant that the lock relies on, which hardly ever is more than
// one. They stay the same while the lock is held, so they serve any number of transactions. They go
// on to hold after [pathlock.Lock.Detach], while the detached hold lives.
//
// Owns reads the tree. The error matches [pathlock.ErrLost] if the lock is not held any more, or is
// another store's.
func (s *Store) Owns(ctx context.Context, lock *pathlock.Lock) ([]clientv3.Cmp, error) {
	r, err := s.backend.read(ctx, lock.Tree())
	if err != nil {
		return nil, fmt.Errorf("pathlock/etcdstore: %w", err)
	}
	relied, err := reliedOn(r, lock)
	if err != nil {
		return nil, err
	}
	held := make([]clientv3.Cmp, len(relied))
	for i, rec := range relied {
		held[i] = clientv3.Compare(clientv3.CreateRevision(rec.key), "=", rec.created)
	}
	return held, nil
}

// reliedOn returns the tickets of a lock: the one with its fence, and others of the owner that have
// claims of the lock which that one has not.
func reliedOn(r *reading, lock *pathlock.Lock) ([]*record, error) {
	lost := fmt.Errorf("pathlock/etcdstore: %w: etcd has no grant of this lock in %s", pathlock.ErrLost, lock.Tree())
	var relied []*record
	for _, rec := range r.records {
		if rec.stored.State == ticketstore.Granted && rec.stored.Fence == lock.Fence() {
			relied = append(relied, rec)
		}
	}
	if len(relied) == 0 {
		return nil, lost
	}
	owner, claims := relied[0].stored.Owner, relied[0].stored.Claims
	gate := relied[0].stored.Gate
	for _, rec := range r.records {
		t := rec.stored
		missing := lack(lock.Claims(), claims)
		if gate || len(missing) == 0 {
			return relied, nil
		}
		if rec != relied[0] && t.State == ticketstore.Granted && t.Owner == owner && touches(t.Claims, missing) {
			relied = append(relied, rec)
			claims, gate = pathlock.Normalize(slices.Concat(claims, t.Claims)...), t.Gate
		}
	}
	if !gate && len(lack(lock.Claims(), claims)) > 0 {
		return nil, lost
	}
	return relied, nil
}

// lack returns the wanted claims that others do not contain.
func lack(wanted, have []pathlock.Claim) []pathlock.Claim {
	return slices.DeleteFunc(slices.Clone(wanted), func(w pathlock.Claim) bool {
		return slices.ContainsFunc(have, func(h pathlock.Claim) bool { return h.Path == w.Path && h.Mode.Covers(w.Mode) })
	})
}

// touches reports whether claims are on one of the nodes that others are on.
func touches(claims, others []pathlock.Claim) bool {
	return slices.ContainsFunc(claims, func(c pathlock.Claim) bool {
		return slices.ContainsFunc(others, func(o pathlock.Claim) bool { return c.Path == o.Path })
	})
}
