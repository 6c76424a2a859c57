package etcdstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Update implements [ticketstore.Backend]: one read of the tree, and one transaction that writes if
// the guard and the tickets to write are still as they were read. If they are not, the transaction
// reads the tree again.
//
// A process that has tickets in the tree remembers what it has read and written. It begins with the
// transaction then, which writes if all tickets are still as remembered.
func (b *backend) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	r := b.memory.take(tree)
	if r == nil || len(r.records) > b.Limit() {
		var err error
		if r, err = b.read(ctx, tree, r); err != nil {
			return err
		}
	}
	for lost := 0; ; lost++ {
		began := time.Now()
		b.sightings.add(r, b.clock.now())
		state, err := b.state(ctx, r)
		if err != nil {
			return err
		}
		changes := change(state)
		if changes.Empty() && !r.remembered {
			b.keep(r)
			return nil
		}
		if changes.Empty() {
			if r, err = b.read(ctx, tree, r); err != nil {
				return err
			}
			continue
		}
		u, err := b.prepare(ctx, r, state.Now, changes)
		if err != nil {
			return err
		}
		next, err := u.commit(ctx)
		if err != nil || next == nil {
			return err
		}
		r = next
		// Of several processes that try again, each waits for as long as a few tries take.
		if lost > 0 {
			if err := b.sleep(ctx, rand.N(time.Since(began)*time.Duration(min(lost, 8))+1)); err != nil {
				return fmt.Errorf("%w: etcdstore: updating %s: %w", pathlock.ErrUnavailable, tree, err)
			}
			if r, err = b.read(ctx, tree, r); err != nil {
				return err
			}
		}
	}
}

// keep keeps what this process has to know of a tree while it has tickets there.
func (b *backend) keep(r *reading) {
	end := b.ownEnd(r.records)
	b.sweeper.track(r.tree, end)
	if end.IsZero() {
		b.sightings.forget(r.tree)
	} else {
		b.memory.put(r)
	}
}

// update is a transaction that writes changes.
type update struct {
	b       *backend
	r       *reading
	name    string // in the guard
	changes ticketstore.Changes

	compares []clientv3.Cmp
	tickets  []clientv3.Op // puts and deletes, and the floor if the guard is made
	guard    clientv3.Op
	next     guard // what guard puts
	// rewrites says that guard is a put, and not a delete.
	rewrites bool
	// left are the tickets that the tree has afterwards, by their keys.
	left map[string]*record
	// used are the etcd leases that tickets are attached to, and how long they have to live.
	used map[*lease]time.Time
	// kept are the tickets that go on with the lease of one that was read, by key.
	kept map[string]*record
	// made are the leases among them that are for this update alone.
	made []*lease
	// ahead says that the tree is empty afterwards and its fence is ahead of etcd's revision.
	ahead bool
}

// prepare makes a transaction of changes to what was read. now is what State.Now was.
func (b *backend) prepare(ctx context.Context, r *reading, now time.Time, changes ticketstore.Changes) (*update, error) {
	if n := len(changes.Put) + len(changes.Delete); n > b.Limit() {
		return nil, fmt.Errorf("%w: etcdstore: an update of %d tickets in %s: etcd's limit of operations in a transaction allows %d (see WithMaxTxnOps)", pathlock.ErrInvalidRequest, n, r.tree, b.Limit())
	}
	u := &update{b: b, r: r, name: b.nextUpdate(), changes: changes, left: map[string]*record{}, kept: map[string]*record{}, used: map[*lease]time.Time{}}
	for _, rec := range r.records {
		u.left[rec.key] = rec
	}
	guardKey := b.keys.guard(r.tree)
	u.compares = append(u.compares, clientv3.Compare(clientv3.ModRevision(guardKey), "=", r.guarded))
	for _, t := range changes.Delete {
		key := b.keys.ticket(r.tree, t.Place)
		rec := r.byKey[key]
		if rec == nil {
			return nil, fmt.Errorf("%w: etcdstore: no ticket %d in %s to delete", pathlock.ErrInvalidRequest, t.Place, r.tree)
		}
		u.compares = append(u.compares, unchanged(rec))
		u.tickets = append(u.tickets, clientv3.OpDelete(key))
		delete(u.left, key)
	}
	if r.remembered {
		// What was read may have ended since, by its lease.
		u.compares = u.compares[:1]
		for _, rec := range r.records {
			u.compares = append(u.compares, unchanged(rec))
		}
	}
	attaching := b.newAttaching(r, now, u)
	for _, t := range changes.Put {
		if err := u.put(ctx, attaching, t); err != nil {
			u.abandon()
			return nil, err
		}
	}
	return u, u.writeGuard(guardKey)
}

// unchanged holds while a ticket is as it was read.
func unchanged(rec *record) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(rec.key), "=", rec.modified)
}

// put adds a ticket to the transaction.
func (u *update) put(ctx context.Context, a *attaching, t ticketstore.Ticket) error {
	key := u.b.keys.ticket(u.r.tree, t.Place)
	rec := u.r.byKey[key]
	t, id, err := a.attach(ctx, t, rec)
	if err != nil {
		return err
	}
	text := ticketstore.Encode(t)
	left := &record{key: key, lease: id}
	if left.stored, err = ticketstore.Decode(text); err != nil {
		return fmt.Errorf("%w: etcdstore: a ticket that cannot be read back: %w", pathlock.ErrInvalidRequest, err)
	}
	if rec != nil {
		left.created = rec.created
		if !u.r.remembered {
			u.compares = append(u.compares, unchanged(rec))
		}
	}
	u.tickets = append(u.tickets, clientv3.OpPut(key, string(text), clientv3.WithLease(id)))
	u.left[key] = left
	return nil
}

// writeGuard adds the guard to the transaction. Where no ticket is left, the guard goes, too,
// unless its fence is ahead of the revision, and so of the floor of the next grant.
func (u *update) writeGuard(key string) error {
	g := u.r.guard.next(u.changes.Fence, u.name)
	if len(u.left) == 0 {
		if g.Fence <= uint64(u.r.revision)+1 {
			u.guard = clientv3.OpDelete(key)
			return nil
		}
		u.ahead = true
	}
	u.next = g
	text, err := g.encode()
	if err != nil {
		return err
	}
	// A guard whose fence is not ahead may end at any time: the revision is the fence then. So it
	// ends with some ticket's process, and is not left behind.
	lease := clientv3.NoLease
	if g.Fence <= uint64(u.r.revision)+1 {
		lease = u.anyLease()
	}
	u.guard, u.rewrites = clientv3.OpPut(key, text, clientv3.WithLease(lease)), true
	if u.r.guarded == 0 {
		floor := u.b.keys.floor(u.r.tree)
		u.compares = append(u.compares, clientv3.Compare(clientv3.ModRevision(floor), "<", u.r.revision+1))
		u.tickets = append(u.tickets, clientv3.OpPut(floor, ""))
	}
	return nil
}

// anyLease returns the lease of a ticket that the tree has afterwards, of one that is written if
// there is one.
func (u *update) anyLease() clientv3.LeaseID {
	for _, t := range u.changes.Put {
		return u.left[u.b.keys.ticket(u.r.tree, t.Place)].lease
	}
	for _, rec := range u.left {
		return rec.lease
	}
	return clientv3.NoLease
}

// commit carries the transaction out. It returns what the tree holds instead of what was read if
// nothing was written for that reason, and nil if the changes are written.
func (u *update) commit(ctx context.Context) (*reading, error) {
	renewed := u.renew(ctx)
	response, open, err := u.send(ctx, append(u.tickets[:len(u.tickets):len(u.tickets)], u.guard))
	if errors.Is(err, rpctypes.ErrNoSpace) && len(u.changes.Put) == 0 && u.rewrites {
		// A full database still deletes.
		response, open, err = u.send(ctx, u.tickets)
	}
	failed := <-renewed
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		u.abandon()
		for l := range u.used {
			if !l.lives(u.b.clock.now()) || errors.Is(failed, rpctypes.ErrLeaseNotFound) || len(u.used) == 1 {
				u.b.leases.drop(l.id)
			}
		}
		return u.b.read(ctx, u.r.tree, u.r)
	case err != nil:
		u.abandon()
		return nil, u.explain(err)
	}
	if !response.Succeeded {
		next, err := u.b.newReading(u.r.tree, response.Header.Revision, response.Responses[0].GetResponseRange().Kvs, u.r)
		if err != nil {
			u.abandon()
			return nil, err
		}
		switch done, revision := u.outcome(next, open); done {
		case notCarriedOut:
			u.abandon()
			return next, nil
		case unknown:
			return nil, fmt.Errorf("%w: etcdstore: updating %s: the reply was lost, and what became of the update is not on record", pathlock.ErrUnavailable, u.r.tree)
		case carriedOut:
			response.Header.Revision = revision
		}
	}
	if failed != nil {
		return nil, u.explain(failed)
	}
	u.done(response.Header.Revision)
	return nil, nil
}

// renew has the leases live for as long as the tickets are to, while the transaction is under way.
// Both have to succeed. The lease of a ticket is never shorter than what its owner believes.
func (u *update) renew(ctx context.Context) <-chan error {
	failed := make(chan error, 1)
	var late []*lease
	for l, until := range u.used {
		if l.end().Before(until) {
			late = append(late, l)
		}
	}
	if len(late) == 0 {
		failed <- nil
		return failed
	}
	started := u.b.start(func() {
		var all error
		for _, l := range late {
			all = errors.Join(all, u.b.leases.renew(ctx, l, u.used[l]))
		}
		failed <- all
	})
	if !started {
		failed <- closed("renewing a lease")
	}
	return failed
}

// send sends the transaction until it is answered. open reports whether it may have been carried
// out by an earlier sending, whose reply was lost.
func (u *update) send(ctx context.Context, writes []clientv3.Op) (response *clientv3.TxnResponse, open bool, err error) {
	base := u.b.keys.tree(u.r.tree)
	sent := 0
	err = u.b.ask(ctx, fmt.Sprintf("updating %s", u.r.tree), func(ctx context.Context) error {
		sent++
		var err error
		response, err = u.b.client.Txn(ctx).If(u.compares...).Then(writes...).
			Else(clientv3.OpGet(base, clientv3.WithRange(rangeOf(base)))).Commit()
		return err
	})
	return response, sent > 1, err
}

// outcome returns what has become of the transaction, by what the tree holds afterwards, and the
// revision of the tree's last update.
func (u *update) outcome(next *reading, open bool) (outcome, int64) {
	switch {
	case !open:
		return notCarriedOut, 0
	case next.guarded == u.r.guarded && u.rewrites:
		return notCarriedOut, 0 // a ticket has ended, and that has kept the transaction from writing
	}
	if next.guarded != 0 {
		if done := next.guard.outcomeOf(u.name, u.r.guard); done != unknown {
			return done, next.guarded
		}
	}
	switch gone := u.gone(next); {
	case gone == len(u.changes.Delete) && u.present(next):
		return carriedOut, next.revision
	case gone == 0:
		// All but deleting may be done twice: change finds what it has done, or does it.
		return notCarriedOut, 0
	default:
		return unknown, 0
	}
}

// gone returns how many of the tickets to delete are gone.
func (u *update) gone(next *reading) (n int) {
	for _, t := range u.changes.Delete {
		key := u.b.keys.ticket(u.r.tree, t.Place)
		if rec := next.byKey[key]; rec == nil || rec.created != u.r.byKey[key].created {
			n++
		}
	}
	return n
}

// present reports whether the tickets to put are there as they were to be written.
func (u *update) present(next *reading) bool {
	for _, t := range u.changes.Put {
		key := u.b.keys.ticket(u.r.tree, t.Place)
		rec, want := next.byKey[key], u.left[key].stored
		if rec == nil || !bytes.Equal(ticketstore.Encode(rec.stored), ticketstore.Encode(want)) {
			return false
		}
	}
	return true
}

// explain returns the error of a transaction that was not carried out, or may not have been.
func (u *update) explain(err error) error {
	switch {
	case errors.Is(err, pathlock.ErrUnavailable):
		return err
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return fmt.Errorf("%w: an update of %d keys in %s: the members' --max-txn-ops is lower than what WithMaxTxnOps says: %w", pathlock.ErrInvalidRequest, len(u.tickets), u.r.tree, err)
	case isTooLarge(err):
		return fmt.Errorf("%w: an update of %d keys in %s has more bytes than etcd takes in a request: claim fewer nodes: %w", pathlock.ErrInvalidRequest, len(u.tickets), u.r.tree, err)
	default:
		return fmt.Errorf("%w: %w", pathlock.ErrUnavailable, err)
	}
}

// abandon gives back the leases that were made for an update that has not been carried out.
func (u *update) abandon() {
	for _, l := range u.made {
		u.b.leases.revoke(l.id)
	}
	u.made = nil
}

// done draws the conclusions from a transaction that has been carried out at a revision.
func (u *update) done(revision int64) {
	// The lease of a detached hold that has moved to another one, or is gone, is of no more use.
	used := map[clientv3.LeaseID]bool{}
	for _, rec := range u.left {
		used[rec.lease] = true
	}
	for _, rec := range u.r.records {
		if isHold(rec.stored) && !used[rec.lease] {
			used[rec.lease] = true
			u.b.leases.revoke(rec.lease)
		}
	}
	u.b.sightings.carry(u.r.tree, u.kept, revision)
	for i := range u.changes.Put {
		if t := &u.changes.Put[i]; t.Key == "" {
			t.Key = ticketKey(t.Place, revision)
		}
	}
	u.b.keep(u.written(revision))
	if u.ahead {
		u.b.sweeper.settle(u.r.tree)
	}
}

// written returns what the tree holds after the transaction.
func (u *update) written(revision int64) *reading {
	r := &reading{tree: u.r.tree, revision: revision, byKey: u.left}
	if u.rewrites {
		r.guard, r.guarded = u.next, revision
	}
	for key, rec := range u.left {
		if rec.modified == 0 {
			place, _ := u.b.keys.place(key) // it is one that this package has made
			rec.modified, rec.stored.Place, rec.stored.Key = revision, place, ticketKey(place, revision)
			if rec.created == 0 {
				rec.created = revision
			}
		}
		r.records = append(r.records, rec)
	}
	return r
}
