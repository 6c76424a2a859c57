package sqlstore

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// update is one call of Update.
type update struct {
	backend *backend
	tree    pathlock.Tree
	key     treeKey
	decide  func(ticketstore.State) ticketstore.Changes
	// ended are the tickets of this process whose waits the last try has ended, or that it is to
	// look at.
	ended []ticketID
}

// try reads, decides and writes once.
func (u *update) try(ctx context.Context, n int) error {
	b := u.backend
	k := b.cache.get(u.key)
	if swap := b.engine.swap(); swap != nil && n < hopeful {
		img, err := b.engine.read(ctx, u.key, k)
		if err != nil {
			return err
		}
		return u.write(img, func(c *change) error { return swap(ctx, c) })
	}
	l, err := b.engine.lock(ctx, identity{u.key, u.tree.Namespace(), u.tree.ID()})
	if err != nil {
		return err
	}
	defer l.close()
	img, err := l.read(ctx, k)
	if err != nil {
		return err
	}
	return u.write(img, func(c *change) error { return l.write(ctx, c) })
}

// write writes what there is to write to a tree that was read.
func (u *update) write(img image, write func(*change) error) error {
	state, err := img.state()
	if err != nil {
		return err
	}
	changes := u.decide(state)
	if u.ended = nil; changes.Empty() {
		u.backend.cache.put(u.key, &known{img.version, img.tickets})
		return nil
	}
	c, err := u.changeOf(img, changes)
	if err != nil {
		return err
	}
	if err := write(c); err != nil {
		return err
	}
	next := img.tickets
	for _, place := range c.gone {
		delete(next, place)
	}
	for _, t := range c.put {
		next[t.place] = &entry{version: c.version, state: t.state, text: t.text}
	}
	u.backend.cache.put(u.key, &known{c.version, next})
	return nil
}

// state is an image as the lock table wants it.
func (img *image) state() (ticketstore.State, error) {
	s := ticketstore.State{
		Tickets: make([]ticketstore.Ticket, 0, len(img.tickets)),
		Now:     time.UnixMicro(img.now),
		Began:   img.began,
		Fence:   uint64(max(0, img.fence)),
		Floor:   uint64(max(0, img.now)),
	}
	for place, e := range img.tickets {
		t, err := e.decode(place)
		if err != nil {
			return s, err
		}
		s.Tickets = append(s.Tickets, t)
	}
	return s, nil
}

// changeOf returns what is to be written. It sets the keys of new tickets.
func (u *update) changeOf(img image, changes ticketstore.Changes) (*change, error) {
	if changes.Fence > math.MaxInt64 {
		return nil, fmt.Errorf("sqlstore: the fence %d does not fit into a column", changes.Fence)
	}
	c := &change{
		tree: u.tree, key: u.key, exists: img.exists, from: img.version,
		// Versions grow with the clock where a tree's row was removed meanwhile.
		version: max(img.version+1, img.now),
		fence:   int64(changes.Fence), now: img.now,
	}
	woken := make(map[string]bool, len(changes.Woken))
	for _, t := range changes.Woken {
		woken[t.Key] = true
	}
	for i := range changes.Put {
		t := &changes.Put[i]
		place, err := placeOf(*t)
		if err != nil {
			return nil, err
		}
		if t.Key == "" {
			t.Key, t.Home = strconv.FormatInt(place, 10), u.backend.home
		}
		row := ticketRow{place: place, state: stateOf(*t), looks: int64(t.Looks), ends: micros(t.Ends()), text: ticketstore.Encode(*t)}
		// A process is named as long as it waits, and until it has seen why it need not.
		ended := woken[t.Key]
		if t.State == ticketstore.Waiting || ended {
			row.home = t.Home
		}
		if ended {
			u.end(c, t.Home, place)
		}
		c.put = append(c.put, row)
	}
	for i := range changes.Delete {
		t := &changes.Delete[i]
		place, err := placeOf(*t)
		if err != nil {
			return nil, err
		}
		if old := img.tickets[place]; old != nil {
			if was, err := old.decode(place); err == nil && was.State == ticketstore.Waiting {
				u.end(c, was.Home, place)
			}
		}
		c.gone = append(c.gone, place)
	}
	return c, nil
}

// end notes that a process is to be told of a ticket.
func (u *update) end(c *change, home string, place int64) {
	id := ticketID{u.key, place}
	if home == u.backend.home {
		u.ended = append(u.ended, id)
	} else if home != "" {
		c.messages = append(c.messages, message{home, id})
	}
}

// tell wakes the waiters of this process whose waits the update has ended.
func (u *update) tell() { u.backend.lookout.wake(u.ended...) }
