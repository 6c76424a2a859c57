package zkstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// commit writes changes to the tree as it was read. It returns false if another process was faster.
func (b *backend) commit(ctx context.Context, tree pathlock.Tree, r *reading, c ticketstore.Changes) (bool, error) {
	w, err := b.prepare(tree, r, c)
	if err != nil {
		return false, err
	}
	sent := time.Now()
	results, err := once(ctx, b.client, func(conn *zk.Conn) ([]zk.MultiResponse, error) { return conn.Multi(w.requests...) })
	received := time.Now()
	switch {
	case isLost(err):
		return b.lookUp(ctx, tree, r, w, c)
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("writing: %w", err)
	}
	ahead := b.clock.sample(results[0].Stat.Mtime, sent, received)
	if results[0].Stat.Czxid != r.created {
		return false, b.withdraw(ctx, tree, w)
	}
	b.remember(tree, w.finish(results, c.Put))
	if ahead > leap {
		return false, fmt.Errorf("%w: ZooKeeper's clock has gone forward by %v: leases written just now may be too short", pathlock.ErrUnavailable, ahead)
	}
	return true, nil
}

// leap is by how much the leader's clock may go forward unnoticed.
const leap = time.Second

// writing is one transaction, and what it means.
type writing struct {
	id       string // the update's, in the record
	requests []any
	entries  map[string]entry // of the tree, when it is written
	puts     []put
}

// put is how one of Changes.Put is written.
type put struct {
	id      string
	created int // the place among the requests of the one that creates the znode, 0 if it is there
}

// prepare makes the transaction of changes. It writes the tree's record first: that fails if there
// was an update since the tree was read.
func (b *backend) prepare(tree pathlock.Tree, r *reading, c ticketstore.Changes) (*writing, error) {
	if n := len(c.Put) + len(c.Delete); n > 1<<fenceBits {
		return nil, fmt.Errorf("%w: an update of %d tickets, at most %d are possible", pathlock.ErrInvalidRequest, n, b.limits.tickets)
	}
	set := &zk.SetDataRequest{Path: b.names.tree(tree), Version: r.version}
	w := &writing{id: newID(), requests: []any{set}, entries: maps.Clone(r.entries)}
	size := requestOverhead
	for _, t := range c.Delete {
		id := idOf(t.Key)
		path := b.names.ticket(tree, t.Key)
		w.requests = append(w.requests, &zk.DeleteRequest{Path: path, Version: w.entries[id].version})
		size += len(path) + requestOverhead
		delete(w.entries, id)
	}
	for _, t := range c.Put {
		n, err := b.put(w, tree, t)
		if err != nil {
			return nil, err
		}
		size += n
	}
	record := record{fence: c.Fence, updates: r.record.after(w.id), tickets: make(map[string]int32, len(w.entries))}
	for id, e := range w.entries {
		record.tickets[id] = e.version
	}
	set.Data = record.encode()
	// A server would close the connection.
	if size += len(set.Path) + len(set.Data); size > b.packet {
		return nil, fmt.Errorf("%w: it has %d bytes, of %d", errTooLarge, size, b.packet)
	}
	return w, nil
}

var errTooLarge = errors.New("the request is larger than the servers' jute.maxbuffer")

// requestOverhead is what a part of a transaction takes at most besides its path and its data.
const requestOverhead = 128

// put adds the writing of one ticket, and returns how many bytes that takes.
func (b *backend) put(w *writing, tree pathlock.Tree, t ticketstore.Ticket) (size int, err error) {
	data, err := b.limits.encode(t)
	if err != nil {
		return 0, err
	}
	id := idOf(t.Key)
	if e, exists := w.entries[id]; exists {
		path := b.names.ticket(tree, t.Key)
		w.requests = append(w.requests, &zk.SetDataRequest{Path: path, Data: data, Version: e.version})
		e.version, e.ticket = e.version+1, t
		w.entries[id] = e
		w.puts = append(w.puts, put{id: id})
		return len(path) + len(data) + requestOverhead, nil
	}
	if t.Key != "" {
		return 0, fmt.Errorf("%w: the ticket %q is not in the tree", pathlock.ErrInvalidRequest, t.Key)
	}
	id = newID()
	path := b.names.ticket(tree, ticketPrefix+id+"-")
	w.entries[id] = entry{ticket: t}
	w.puts = append(w.puts, put{id: id, created: len(w.requests)})
	w.requests = append(w.requests, &zk.CreateRequest{Path: path, Data: data, Acl: b.acl, Flags: zk.FlagSequence})
	return len(path) + len(data) + requestOverhead, nil
}

// finish names the tickets that were created, and returns what the tree has now.
func (w *writing) finish(results []zk.MultiResponse, puts []ticketstore.Ticket) map[string]entry {
	for i, p := range w.puts {
		if p.created == 0 {
			continue
		}
		path := results[p.created].String
		name := path[strings.LastIndexByte(path, '/')+1:]
		puts[i].Key = name
		e := w.entries[p.id]
		e.name, e.ticket.Key = name, name
		w.entries[p.id] = e
	}
	return w.entries
}

// lookUp finds out what has become of a write whose answer was lost.
func (b *backend) lookUp(ctx context.Context, tree pathlock.Tree, r *reading, w *writing, c ticketstore.Changes) (bool, error) {
	now, err := b.read(ctx, tree, true)
	if err != nil {
		return false, err
	}
	written := !now.absent && slices.Contains(now.record.updates, w.id)
	switch {
	case written && now.created != r.created:
		return false, b.withdraw(ctx, tree, w)
	case written:
		for i, p := range w.puts {
			// Another update may have written it in another form since.
			if e, ok := now.entries[p.id]; ok && p.created > 0 {
				c.Put[i].Key = e.name
			}
		}
		return true, nil
	case now.absent || now.created != r.created || now.version-r.version > rememberedUpdates:
		return false, fmt.Errorf("%w, and the tree has changed too often since to tell whether it was carried out", errUnanswered)
	default:
		return false, nil
	}
}

// withdraw removes tickets that were written to the wrong tree: the tree's znode was removed after
// it was read, another of the same name was created, and that had the same version by chance. No
// caller has been told of these tickets, their fences are lower than any of that tree, and the
// tickets that their update has left out of the record count all the same. Until they are removed,
// they are in the way of others.
func (b *backend) withdraw(ctx context.Context, tree pathlock.Tree, w *writing) error {
	strayed := make(map[string]bool)
	for _, p := range w.puts {
		strayed[p.id] = true
	}
	return b.update(ctx, tree, func(state ticketstore.State) (c ticketstore.Changes) {
		c.Fence = state.Fence
		for _, t := range state.Tickets {
			if strayed[idOf(t.Key)] {
				c.Delete = append(c.Delete, t)
			}
		}
		return c
	})
}
