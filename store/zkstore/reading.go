package zkstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// entry is one ticket as a znode has it. It does not change.
type entry struct {
	name    string
	version int32
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

// atOnce is how many znodes of a tree are read at once.
const atOnce = 100

// together calls a function for each name, for several at once, until one fails.
func (b *backend) together(ctx context.Context, names []string, do func(ctx context.Context, name string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, name := range names {
		group.Go(func() error { return do(ctx, name) })
	}
	return group.Wait()
}

// data and children are the answers of a server.
type (
	data struct {
		bytes []byte
		stat  zk.Stat
	}
	children struct {
		names []string
		stat  zk.Stat
	}
)

func (b *backend) get(ctx context.Context, path string) (data, error) {
	return untilAnswered(ctx, b.client, func(conn *zk.Conn) (data, error) {
		bytes, stat, err := conn.Get(path)
		if err != nil {
			return data{}, err
		}
		return data{bytes, *stat}, nil
	})
}

func (b *backend) children(ctx context.Context, path string) (children, error) {
	return untilAnswered(ctx, b.client, func(conn *zk.Conn) (children, error) {
		names, stat, err := conn.Children(path)
		if err != nil {
			return children{}, err
		}
		return children{names, *stat}, nil
	})
}

// sync has the server catch up with the leader.
func (b *backend) sync(ctx context.Context, path string) error {
	_, err := untilAnswered(ctx, b.client, func(conn *zk.Conn) (string, error) { return conn.Sync(path) })
	return err
}

// read reads a tree. If current is set, nothing is missing that was written before the call, by
// whomever.
func (b *backend) read(ctx context.Context, tree pathlock.Tree, current bool) (*reading, error) {
	path := b.names.tree(tree)
	for try := 0; ; try++ {
		if err := b.pause(ctx, try); err != nil {
			return nil, err
		}
		if current {
			if err := b.sync(ctx, path); err != nil {
				return nil, err
			}
		}
		var data data
		var list children
		group, within := errgroup.WithContext(ctx)
		group.Go(func() (err error) { data, err = b.get(within, path); return err })
		group.Go(func() (err error) { list, err = b.children(within, path); return err })
		err := group.Wait()
		if errors.Is(err, zk.ErrNoNode) {
			b.remember(tree, nil)
			return &reading{absent: true}, nil
		}
		if err != nil {
			return nil, err
		}
		if !sameUpdate(data.stat, list.stat) {
			continue // an update came between the two
		}
		record, err := decodeRecord(data.bytes)
		if err != nil {
			return nil, err
		}
		r := &reading{
			created: data.stat.Czxid, zxid: data.stat.Mzxid, version: data.stat.Version,
			record: record, entries: make(map[string]entry),
		}
		whole, err := b.readTickets(ctx, tree, r, list.names)
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
	var mu sync.Mutex
	err := b.together(ctx, changed, func(ctx context.Context, name string) error {
		got, err := b.get(ctx, b.names.ticket(tree, name))
		if err != nil {
			return err
		}
		e, err := entryOf(name, got, r.record)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		r.entries[idOf(name)] = e
		return nil
	})
	if errors.Is(err, errAnother) || errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}

// errAnother is for a ticket's znode that is another one than the record lists.
var errAnother = errors.New("the ticket has changed")

// entryOf makes an entry of a ticket's znode. A ticket that no record lists counts all the same:
// see withdraw.
func entryOf(name string, got data, r record) (entry, error) {
	if version, listed := r.tickets[idOf(name)]; listed && got.stat.Version != version {
		return entry{}, errAnother
	}
	ticket, err := decodeTicket(got.bytes)
	if err != nil {
		return entry{}, fmt.Errorf("the ticket %s: %w", name, err)
	}
	ticket.Key = name
	return entry{name: name, version: got.stat.Version, ticket: ticket}, nil
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
