package zkstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
	"github.com/pathlock-go/pathlock/store/zkstore/internal/zk"
)

// commit writes changes to the tree as it was read. It returns false if another process was faster.
func (b *backend) commit(ctx context.Context, tree pathlock.Tree, r *reading, state ticketstore.State, c ticketstore.Changes) (bool, error) {
	w, err := b.prepare(tree, r, state, c)
	if err != nil {
		return false, err
	}
	err = b.client.DoMulti(ctx, w.multi)
	switch {
	case errors.Is(err, zk.ErrOtherSession):
		return false, nil
	case errors.Is(err, zk.ErrLost):
		return b.lookUp(ctx, tree, r, w, c)
	case err != nil:
		return false, err
	case w.multi.Err != nil:
		return false, refusal(w.multi)
	}
	ahead := b.clock.sample(w.set.Stat.Mtime, w.multi.Sent, w.multi.Received)
	if w.set.Stat.Czxid != r.created {
		return false, b.withdraw(ctx, tree, w)
	}
	b.remember(tree, w.finish(c.Put))
	if ahead > leap {
		return false, fmt.Errorf("%w: ZooKeeper's clock has gone forward by %v: leases written just now may be too short", pathlock.ErrUnavailable, ahead)
	}
	return true, nil
}

// leap is by how much the leader's clock may go forward unnoticed.
const leap = time.Second

// refusal returns nil if a write was refused because another process was faster.
func refusal(m *zk.Multi) error {
	for _, code := range []zk.Code{zk.ErrBadVersion, zk.ErrNoNode, zk.ErrExpired, zk.ErrMoved} {
		if errors.Is(m.Err, code) {
			return nil
		}
	}
	return fmt.Errorf("writing: %w", m.Err)
}

// writing is one Multi, and what it means.
type writing struct {
	id      string // the update's, in the record
	multi   *zk.Multi
	set     *zk.Set
	session int64
	entries map[string]entry // of the tree, when it is written
	puts    []put
}

// put is how one of Changes.Put is written.
type put struct {
	id     string
	create *zk.Create // nil if the znode is there
}

// prepare makes the Multi of changes. It writes the tree's record first: that fails if there was an
// update since the tree was read.
func (b *backend) prepare(tree pathlock.Tree, r *reading, state ticketstore.State, c ticketstore.Changes) (*writing, error) {
	if n := len(c.Put) + len(c.Delete); n > 1<<fenceBits {
		return nil, fmt.Errorf("%w: an update of %d tickets, at most %d are possible", pathlock.ErrInvalidRequest, n, b.limits.tickets)
	}
	session := b.client.Session()
	w := &writing{id: newID(), session: session.ID, entries: maps.Clone(r.entries)}
	w.set = &zk.Set{Path: b.names.tree(tree), Version: r.version}
	w.multi = &zk.Multi{Ops: []zk.Op{w.set}}
	for _, t := range c.Delete {
		id := idOf(t.Key)
		w.multi.Ops = append(w.multi.Ops, &zk.Delete{Path: b.names.ticket(tree, t.Key), Version: w.entries[id].version})
		delete(w.entries, id)
	}
	for _, t := range c.Put {
		if err := b.put(w, tree, t, session, state); err != nil {
			return nil, err
		}
	}
	record := record{fence: c.Fence, updates: r.record.after(w.id), tickets: make(map[string]int32, len(w.entries))}
	for id, e := range w.entries {
		record.tickets[id] = e.version
	}
	w.set.Data = record.encode()
	return w, nil
}

// put adds the writing of one ticket.
func (b *backend) put(w *writing, tree pathlock.Tree, t ticketstore.Ticket, session zk.Session, state ticketstore.State) error {
	id := idOf(t.Key)
	old, exists := w.entries[id]
	if t.Key != "" && !exists {
		return fmt.Errorf("%w: the ticket %q is not in the tree", pathlock.ErrInvalidRequest, t.Key)
	}
	if !exists {
		t.Home = fmt.Sprintf("%#x", session.ID)
	}
	data, err := b.limits.encode(t)
	if err != nil {
		return err
	}
	if exists && (old.session == 0 || stays(old, t, session, state)) {
		if old.session == session.ID {
			w.multi.Only = session.ID // whose life the renewal relies on
		}
		w.multi.Ops = append(w.multi.Ops, &zk.Set{Path: b.names.ticket(tree, t.Key), Data: data, Version: old.version})
		old.version, old.ticket = old.version+1, t
		w.entries[id] = old
		w.puts = append(w.puts, put{id: id})
		return nil
	}
	create := &zk.Create{Data: data, ACL: b.acl, Mode: zk.PersistentSequence}
	e := entry{ticket: t}
	if exists {
		// The znode has to outlive its session from now on.
		w.multi.Ops = append(w.multi.Ops, &zk.Delete{Path: b.names.ticket(tree, t.Key), Version: old.version})
		delete(w.entries, id)
	} else if ephemeral(t, session, state) {
		create.Mode, e.session, w.multi.Only = zk.EphemeralSequential, session.ID, session.ID
	}
	id = newID()
	create.Path = b.names.ticket(tree, ticketPrefix+id+"-")
	w.multi.Ops = append(w.multi.Ops, create)
	w.entries[id] = e
	w.puts = append(w.puts, put{id: id, create: create})
	return nil
}

// finish names the tickets that were created, and returns what the tree has now.
func (w *writing) finish(puts []ticketstore.Ticket) map[string]entry {
	for i, p := range w.puts {
		if p.create == nil {
			continue
		}
		puts[i].Key = p.create.Created[strings.LastIndexByte(p.create.Created, '/')+1:]
		w.name(p.id, puts[i].Key)
	}
	return w.entries
}

func (w *writing) name(id, name string) {
	e := w.entries[id]
	e.name, e.ticket.Key = name, name
	w.entries[id] = e
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
			if e, ok := now.entries[p.id]; ok && p.create != nil {
				c.Put[i].Key = e.name
			}
		}
		return true, nil
	case now.absent || now.created != r.created || now.version-r.version > rememberedUpdates:
		return false, fmt.Errorf("%w, and the tree has changed too often since to tell whether it was carried out", zk.ErrLost)
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
