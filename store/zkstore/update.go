package zkstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// reading is what a tree held at one instant.
type reading struct {
	absent   bool  // there is no znode of the tree
	zxid     int64 // of the latest update
	mtime    int64 // when that was, in ms since 1970
	version  int32
	record   record
	size     int  // of the record, in bytes
	waiting  int  // how many requests wait
	reserved bool // a process has reserved the next update
}

// fenceBits is how many fences an update can give out, as a power of two. So all fences of an
// update are above those of the last one, counted from its transaction.
const fenceBits = 8

// Update implements [ticketstore.Backend].
func (b *backend) Update(ctx context.Context, tree pathlock.Tree, latest bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	r, err := b.read(ctx, tree, latest)
	if err != nil {
		return false, err
	}
	state, err := b.state(ctx, r)
	if err != nil {
		return false, err
	}
	switch c := change(state); {
	case c.Empty():
		return latest, nil
	case r.absent:
		// Fences of the tree's next life are above those of the last, if they are counted from
		// the transaction that creates it.
		return false, b.begin(ctx, tree)
	default:
		return b.commit(ctx, tree, r, c)
	}
}

// Reserve creates a znode that the next update deletes, or the end of the session: see
// [ticketstore.New].
func (b *backend) Reserve(ctx context.Context, tree pathlock.Tree) error {
	_, err := once(ctx, b.client, func(conn *zk.Conn) (string, error) {
		return conn.Create(b.names.reservation(tree), nil, zk.FlagEphemeral, b.acl)
	})
	return err
}

// read reads a tree. If latest is set, it sees everything that anybody wrote before the call.
func (b *backend) read(ctx context.Context, tree pathlock.Tree, latest bool) (*reading, error) {
	path := b.names.tree(tree)
	if latest {
		if err := b.sync(ctx, path); err != nil {
			return nil, err
		}
	}
	return untilAnswered(ctx, b.client, func(conn *zk.Conn) (*reading, error) {
		data, stat, err := conn.Get(path)
		if errors.Is(err, zk.ErrNoNode) {
			return &reading{absent: true}, nil
		}
		if err != nil {
			return nil, err
		}
		record, err := decodeRecord(&b.decoder, data)
		// Below are the znodes of the tree's life, of those who wait, and of a reservation.
		waiting := 0
		for _, t := range record.tickets.Tickets {
			if t.State == ticketstore.Waiting {
				waiting++
			}
		}
		return &reading{
			zxid: stat.Mzxid, mtime: stat.Mtime, version: stat.Version,
			record: record, size: len(data), waiting: waiting, reserved: int(stat.NumChildren)-1-waiting > 0,
		}, err
	})
}

// sync makes the server catch up with the leader.
func (b *backend) sync(ctx context.Context, path string) error {
	_, err := untilAnswered(ctx, b.client, func(conn *zk.Conn) (string, error) { return conn.Sync(path) })
	return err
}

// state returns what a tree holds in the form that lock tables take.
func (b *backend) state(ctx context.Context, r *reading) (ticketstore.State, error) {
	now, uncertain, err := b.now(ctx)
	s := ticketstore.State{
		Tickets: r.record.tickets.Tickets, Now: now, ClockError: uncertain, MostOfOwner: mostOfOwner,
		Fence: r.record.Fence, Floor: uint64(r.zxid) << fenceBits, Reserved: r.reserved,
	}
	if r.size > mostBeforeWaits {
		s.MostWaiters = max(1, r.waiting)
	}
	return s, err
}

// begin creates the znode of a tree, and the one that tells the tree's lives apart.
func (b *backend) begin(ctx context.Context, tree pathlock.Tree) error {
	record := record{Life: newID()}
	data, err := record.encode()
	if err != nil {
		return err
	}
	_, err = once(ctx, b.client, func(conn *zk.Conn) (any, error) {
		return conn.Multi(&zk.CreateRequest{Path: b.names.tree(tree), Data: data, Acl: b.acl},
			&zk.CreateRequest{Path: b.names.life(tree, record.Life), Acl: b.acl})
	})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return b.createRoot(ctx, b.names.root)
	case err == nil, errors.Is(err, zk.ErrNodeExists), isLost(err) && ctx.Err() == nil:
		return nil // the caller looks again
	default:
		return fmt.Errorf("creating the znode of the tree: %w", err)
	}
}

// createRoot creates a znode, and those above it that are missing.
func (b *backend) createRoot(ctx context.Context, path string) error {
	_, err := once(ctx, b.client, func(conn *zk.Conn) (string, error) { return conn.Create(path, nil, 0, b.acl) })
	switch {
	case err == nil, errors.Is(err, zk.ErrNodeExists), isLost(err) && ctx.Err() == nil:
		return nil // the caller looks again
	case errors.Is(err, zk.ErrNoNode) && parentOf(path) != "":
		if err := b.createRoot(ctx, parentOf(path)); err != nil {
			return err
		}
		return b.createRoot(ctx, path)
	default:
		return fmt.Errorf("creating the znode %s: %w", path, err)
	}
}

// commit writes changes to the tree as it was read. It returns false if another process was faster,
// or the answer was lost: the tree then shows which.
func (b *backend) commit(ctx context.Context, tree pathlock.Tree, r *reading, c ticketstore.Changes) (bool, error) {
	requests, err := b.requests(tree, r, c)
	if err != nil {
		return false, err
	}
	sent := time.Now()
	results, err := once(ctx, b.client, func(conn *zk.Conn) ([]zk.MultiResponse, error) { return conn.Multi(requests...) })
	received := time.Now()
	switch {
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode), isLost(err) && ctx.Err() == nil:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("writing: %w", err)
	}
	if ahead := b.clock.sample(results[0].Stat.Mtime, sent, received); ahead > leap {
		return false, fmt.Errorf("%w: ZooKeeper's clock has jumped forward by %v: leases just written may be too short", pathlock.ErrUnavailable, ahead)
	}
	return true, nil
}

// leap is how far the leader's clock may jump ahead unnoticed.
const leap = time.Second

// maxPacket is the servers' jute.maxbuffer, unless they are told otherwise: they close a connection
// that brings more.
const maxPacket = 1<<20 - 1

// Hand-overs, transfers and renewals make a tree's record grow, and none of them may fail. So an
// eighth of a packet is reserved for them. In the eighth before that, new requests may hold, but
// not wait.
const (
	mostOfRequest   = maxPacket / 8
	mostBeforeGrant = maxPacket - mostOfRequest
	mostBeforeWaits = mostBeforeGrant - mostOfRequest
)

// mostOfOwner is how many requests an owner may have in a tree. A server keeps hundreds of updates
// in its memory, each with the whole tree.
const mostOfOwner = 1000

// requestOverhead is what a part of a transaction takes at most besides its path and its data.
const requestOverhead = 128

// requests returns the transaction that writes changes: the tree's next record, on condition that
// nobody has updated the tree since it was read, and the znodes that wake waiters.
func (b *backend) requests(tree pathlock.Tree, r *reading, c ticketstore.Changes) ([]any, error) {
	var waiters []any
	most := maxPacket
	for i := range c.Put {
		t := &c.Put[i]
		if t.Key != "" {
			continue
		}
		if size := len(ticketstore.Encode(*t)); size > mostOfRequest {
			return nil, fmt.Errorf("%w: the claims and the note take %d bytes, at most %d are allowed: %w",
				pathlock.ErrInvalidRequest, size, mostOfRequest, shown.Inside("claim an ancestor, or the gate, in their place"))
		}
		if t.State != ticketstore.Refused {
			most = mostBeforeGrant
		}
		if t.State == ticketstore.Waiting {
			t.Home = newID()
			waiters = append(waiters, &zk.CreateRequest{Path: b.names.waiter(tree, *t), Data: looks(*t), Acl: b.acl})
		}
	}
	for _, t := range c.Delete {
		if t.State == ticketstore.Waiting {
			waiters = append(waiters, &zk.DeleteRequest{Path: b.names.waiter(tree, t), Version: -1})
		}
	}
	for _, t := range c.Woken {
		if t.State == ticketstore.Waiting {
			waiters = append(waiters, &zk.SetDataRequest{Path: b.names.waiter(tree, t), Data: looks(t), Version: -1})
		} else {
			waiters = append(waiters, &zk.DeleteRequest{Path: b.names.waiter(tree, t), Version: -1})
		}
	}
	if r.reserved {
		waiters = append(waiters, &zk.DeleteRequest{Path: b.names.reservation(tree), Version: -1})
	}
	data, err := r.record.after(c).encode()
	if err != nil {
		return nil, err
	}
	path := b.names.tree(tree)
	if size := len(data) + (2+len(waiters))*(requestOverhead+len(path)); size > most {
		return nil, fmt.Errorf("%w: all requests in the tree take %d bytes with this one, at most %d are allowed: %w",
			pathlock.ErrInvalidRequest, size, most, shown.Inside("see the servers' jute.maxbuffer"))
	}
	return append([]any{
		&zk.SetDataRequest{Path: path, Data: data, Version: r.version},
		&zk.CheckVersionRequest{Path: b.names.life(tree, r.record.Life), Version: -1},
	}, waiters...), nil
}

// looks is the data of a waiter's znode.
func looks(t ticketstore.Ticket) []byte { return strconv.AppendUint(nil, t.Looks, 10) }
