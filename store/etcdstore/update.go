package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Update implements [ticketstore.Backend]: one read of the tree, and one transaction that writes if
// the guard and the tickets to write are still as they were read.
func (b *backend) Update(ctx context.Context, tree pathlock.Tree, _ bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	r, err := b.read(ctx, tree)
	if err != nil {
		return false, err
	}
	state, err := b.state(ctx, r)
	if err != nil {
		return false, err
	}
	changes := b.portion(change(state), state.Now)
	if changes.Empty() {
		return true, nil
	}
	u, err := b.prepare(ctx, r, state.Now, changes)
	if err != nil {
		return false, err
	}
	return u.commit(ctx)
}

// Reserve writes a key that the next update deletes: see [ticketstore.New].
func (b *backend) Reserve(ctx context.Context, tree pathlock.Tree) error {
	return b.ask(ctx, fmt.Sprintf("reserving %s", tree), func(ctx context.Context) error {
		_, err := b.client.Put(ctx, b.keys.reservation(tree), "")
		return err
	})
}

// portion leaves ended tickets to later updates, if one update cannot delete them all.
func (b *backend) portion(c ticketstore.Changes, now time.Time) ticketstore.Changes {
	excess := len(c.Put) + len(c.Delete) - b.Limit()
	c.Delete = slices.DeleteFunc(slices.Clone(c.Delete), func(t ticketstore.Ticket) bool {
		late := excess > 0 && !now.Before(t.Ends())
		if late {
			excess--
		}
		return late
	})
	return c
}

// update is a transaction that writes changes to what was read.
type update struct {
	b       *backend
	r       *reading
	name    string
	changes ticketstore.Changes
	// compares have to hold for the tickets to be written, and the guard.
	compares []clientv3.Cmp
	tickets  []clientv3.Op
	guard    clientv3.Op
}

// prepare makes the transaction of changes to what was read. now is what State.Now was.
func (b *backend) prepare(ctx context.Context, r *reading, now time.Time, changes ticketstore.Changes) (*update, error) {
	if n := len(changes.Put) + len(changes.Delete); n > b.Limit() {
		return nil, fmt.Errorf("%w: an update of %d tickets: etcd's limit of operations in a transaction allows %d (see WithMaxTxnOps)", pathlock.ErrInvalidRequest, n, b.Limit())
	}
	u := &update{b: b, r: r, name: b.nextUpdate(), changes: changes}
	key := b.keys.guard(r.tree)
	u.compares = append(u.compares, clientv3.Compare(clientv3.ModRevision(key), "=", r.guarded))
	for _, t := range changes.Delete {
		rec := r.at(t.Place)
		if rec == nil {
			return nil, fmt.Errorf("%w: no ticket %d to delete", pathlock.ErrInvalidRequest, t.Place)
		}
		u.compares = append(u.compares, unchanged(rec))
		u.tickets = append(u.tickets, clientv3.OpDelete(rec.key))
	}
	for _, t := range changes.Put {
		if err := u.put(ctx, now, t); err != nil {
			return nil, err
		}
	}
	u.guard = clientv3.OpPut(key, strconv.FormatUint(max(r.fence, changes.Fence), 10))
	if r.reserved {
		u.tickets = append(u.tickets, clientv3.OpDelete(b.keys.reservation(r.tree)))
	}
	return u, nil
}

// unchanged holds while a ticket is as it was read. It may have ended meanwhile.
func unchanged(rec *record) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(rec.key), "=", rec.modified)
}

// put adds a ticket to the transaction.
func (u *update) put(ctx context.Context, now time.Time, t ticketstore.Ticket) error {
	own, err := u.endOf(ctx, now, t, t.Until)
	if err != nil {
		return err
	}
	var shared end
	if !t.OwnerUntil.IsZero() {
		if shared, err = u.endOf(ctx, now, t, t.OwnerUntil); err != nil {
			return err
		}
	}
	t.Until, t.OwnerUntil = own.written, shared.written
	t.Home = own.renewal.String() + " " + shared.renewal.String()
	if rec := u.r.at(t.Place); rec != nil {
		u.compares = append(u.compares, unchanged(rec))
	}
	u.tickets = append(u.tickets, clientv3.OpPut(u.b.keys.ticket(u.r.tree, t.Place), string(ticketstore.Encode(t)), clientv3.WithLease(own.lease)))
	return nil
}

// endOf returns the written form of a lease's end. An end that was read stays unchanged, so that a
// process can grant a lock to another process's waiter without prolonging its lease. Other ends
// come from this process, which knows them from now on.
func (u *update) endOf(ctx context.Context, now time.Time, t ticketstore.Ticket, until time.Time) (end, error) {
	for _, place := range []uint64{t.Place, 0} {
		if e, ok := u.r.ends[shownEnd{t.Owner, place, until.UnixMicro()}]; ok {
			return e, nil
		}
	}
	l, err := u.b.leaseUntil(ctx, until)
	if err != nil {
		return end{}, err
	}
	e := end{renewal{u.name, until.Sub(now), l.end.Sub(until)}, until, l.id}
	u.b.observed.until(e.renewal, until, now)
	u.r.ends[shownEnd{t.Owner, 0, until.UnixMicro()}] = e
	return e, nil
}

// commit executes the transaction, and reports whether it took effect: false if the tree is no
// longer as it was read, even if an earlier attempt whose reply was lost has changed it.
func (u *update) commit(ctx context.Context) (bool, error) {
	response, err := u.send(ctx, append(u.tickets[:len(u.tickets):len(u.tickets)], u.guard))
	if errors.Is(err, rpctypes.ErrNoSpace) && len(u.changes.Put) == 0 {
		// A full database still deletes.
		response, err = u.send(ctx, u.tickets)
	}
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		u.b.leases.forget()
		return false, nil
	case err != nil:
		return false, u.explain(err)
	case response.Succeeded:
		for i := range u.changes.Put { // so that no watch reports this
			t := &u.changes.Put[i]
			t.Key = ticketKey(t.Place, response.Header.Revision)
		}
	}
	return response.Succeeded, nil
}

// send sends the transaction until it is answered.
func (u *update) send(ctx context.Context, writes []clientv3.Op) (response *clientv3.TxnResponse, err error) {
	err = u.b.ask(ctx, fmt.Sprintf("updating %s", u.r.tree), func(ctx context.Context) (err error) {
		response, err = u.b.client.Txn(ctx).If(u.compares...).Then(writes...).Commit()
		return err
	})
	return response, err
}

// explain returns the error of a transaction that certainly or possibly took no effect.
func (u *update) explain(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return fmt.Errorf("%w: an update of %d keys is too large: %w: %w", pathlock.ErrInvalidRequest, len(u.tickets), shown.Inside("the members' --max-txn-ops is lower than what WithMaxTxnOps says"), err)
	case isTooLarge(err):
		return fmt.Errorf("%w: an update of %d keys has more bytes than etcd accepts in a request: claim fewer nodes: %w", pathlock.ErrInvalidRequest, len(u.tickets), err)
	default:
		return err
	}
}
