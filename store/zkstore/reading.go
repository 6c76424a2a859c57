package zkstore

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

// entry is one ticket as a znode has it. It does not change.
type entry struct {
	name    string
	version int32
	session int64 // whose end is the ticket's end, 0 if it is persistent
	ticket  ticketstore.Ticket
}

// reading is what a tree held at one instant.
type reading struct {
	absent  bool // there is no znode of the tree
	created int64
	zxid    int64 // of the latest update
	version int32
	record  record
	entries map[string]entry // by the random part of their names
}

// batch is how many requests are sent at once.
const batch = 100

// read reads a tree. If current is set, nothing is missing that was written before the call, by
// whomever: the server catches up with the leader first.
func (b *backend) read(ctx context.Context, tree pathlock.Tree, current bool) (*reading, error) {
	path := b.names.tree(tree)
	for try := 0; ; try++ {
		if err := b.pause(ctx, try); err != nil {
			return nil, err
		}
		data, children := &zk.Get{Path: path}, &zk.Children{Path: path}
		ops := []zk.Op{data, children}
		if current {
			ops = []zk.Op{&zk.Sync{Path: path}, data, children}
		}
		if err := b.client.Do(ctx, ops...); err != nil {
			return nil, err
		}
		if errors.Is(data.Err, zk.ErrNoNode) {
			b.remember(tree, nil)
			return &reading{absent: true}, nil
		}
		if data.Err != nil {
			return nil, data.Err
		}
		if children.Err != nil || !sameUpdate(data.Stat, children.Stat) {
			continue // an update came between the two
		}
		record, err := decodeRecord(data.Data)
		if err != nil {
			return nil, err
		}
		r := &reading{
			created: data.Stat.Czxid, zxid: data.Stat.Mzxid, version: data.Stat.Version,
			record: record, entries: make(map[string]entry),
		}
		whole, err := b.readTickets(ctx, tree, r, children.Names)
		if err != nil {
			return nil, err
		}
		if whole {
			b.remember(tree, r.entries)
			return r, nil
		}
	}
}

func sameUpdate(a, b zk.Stat) bool { return a.Czxid == b.Czxid && a.Version == b.Version }

// readTickets reads the tickets that have changed since they were read last. It returns false if
// another update has come meanwhile.
func (b *backend) readTickets(ctx context.Context, tree pathlock.Tree, r *reading, names []string) (bool, error) {
	known := b.remembered(tree)
	var changed []string
	for _, name := range names {
		id := idOf(name)
		version, listed := r.record.tickets[id]
		switch e, ok := known[id]; {
		case id == "":
			// Nobody's ticket.
		case ok && listed && e.version == version:
			r.entries[id] = e
		default:
			changed = append(changed, name)
		}
	}
	for len(changed) > 0 {
		part := changed[:min(batch, len(changed))]
		changed = changed[len(part):]
		ops := make([]zk.Op, len(part))
		for i, name := range part {
			ops[i] = &zk.Get{Path: b.names.ticket(tree, name)}
		}
		if err := b.client.Do(ctx, ops...); err != nil {
			return false, err
		}
		for i, op := range ops {
			e, whole, err := entryOf(part[i], op.(*zk.Get), r.record)
			if err != nil || !whole {
				return false, err
			}
			r.entries[idOf(part[i])] = e
		}
	}
	return true, nil
}

// entryOf makes an entry of a ticket's znode. It returns false if the znode is another one than the
// record lists. A ticket that no record lists counts all the same: see withdraw.
func entryOf(name string, got *zk.Get, r record) (entry, bool, error) {
	if errors.Is(got.Err, zk.ErrNoNode) {
		return entry{}, false, nil
	}
	if got.Err != nil {
		return entry{}, false, got.Err
	}
	if version, listed := r.tickets[idOf(name)]; listed && got.Stat.Version != version {
		return entry{}, false, nil
	}
	ticket, err := decodeTicket(got.Data)
	if err != nil {
		return entry{}, false, fmt.Errorf("the ticket %s: %w", name, err)
	}
	ticket.Key = name
	return entry{name: name, version: got.Stat.Version, session: got.Stat.EphemeralOwner, ticket: ticket}, true, nil
}

// fenceBits is how many fences an update can give out, as a power of two. So all fences of an
// update are above those of the last one, counted from its transaction.
const fenceBits = 8

// state returns what a tree holds as the lock table wants it.
func (b *backend) state(ctx context.Context, r *reading) (ticketstore.State, error) {
	now, uncertain, began, err := b.now(ctx)
	if err != nil {
		return ticketstore.State{}, err
	}
	state := ticketstore.State{
		Tickets: make([]ticketstore.Ticket, 0, len(r.entries)),
		Now:     now, Error: uncertain, Began: began,
		Fence: r.record.fence,
		Floor: uint64(r.zxid) << fenceBits,
	}
	for e := range maps.Values(r.entries) {
		state.Tickets = append(state.Tickets, e.ticket)
	}
	return state, nil
}
