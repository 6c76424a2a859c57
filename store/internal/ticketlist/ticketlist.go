// Package ticketlist keeps all tickets of a tree in one text, for stores that read and write a tree
// as one record.
package ticketlist

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// List is the tickets of a tree, in the order of arrival. It is not changed.
type List struct {
	Tickets []ticketstore.Ticket
	lines   [][]byte // their texts
}

// Encode returns a list as text: a line for each ticket.
func (l List) Encode() []byte { return bytes.Join(l.lines, nil) }

// With returns what a list becomes by changes. It gives those a Key that are new: the place.
func (l List) With(c ticketstore.Changes) List {
	type entry struct {
		ticket ticketstore.Ticket
		line   []byte
	}
	next := make(map[uint64]entry, len(l.Tickets)+len(c.Put))
	for i, t := range l.Tickets {
		next[t.Place] = entry{t, l.lines[i]}
	}
	for _, t := range c.Delete {
		delete(next, t.Place)
	}
	for i := range c.Put {
		t := &c.Put[i]
		t.Key = keyOf(*t)
		next[t.Place] = entry{*t, append(ticketstore.Encode(*t), '\n')}
	}
	entries := make([]entry, 0, len(next))
	for _, e := range next {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.ticket.Place, b.ticket.Place) })
	var list List
	for _, e := range entries {
		list.Tickets, list.lines = append(list.Tickets, e.ticket), append(list.lines, e.line)
	}
	return list
}

func keyOf(t ticketstore.Ticket) string { return strconv.FormatUint(t.Place, 10) }

// Decoder decodes lists. It remembers lines, because most of a crowd's are as they were when the
// list is read again.
type Decoder struct {
	mu          sync.Mutex
	recent, old map[string]ticketstore.Ticket
}

// remembered is how many lines make a generation, of which a decoder remembers two.
const remembered = 2048

// Decode returns the list of a text that [List.Encode] has written.
func (d *Decoder) Decode(text []byte) (List, error) {
	var list List
	for line := range bytes.Lines(text) {
		t, err := d.Ticket(line)
		if err != nil {
			return List{}, err
		}
		list.Tickets, list.lines = append(list.Tickets, t), append(list.lines, line)
	}
	return list, nil
}

// Ticket returns the ticket that a line has, as [ticketstore.Decode] does, with its place as its
// Key.
func (d *Decoder) Ticket(line []byte) (ticketstore.Ticket, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, known := d.recent[string(line)]
	if known {
		return t, nil
	}
	if t, known = d.old[string(line)]; !known {
		var err error
		if t, err = ticketstore.Decode(line); err != nil {
			return t, err
		}
		t.Key = keyOf(t)
	}
	if d.recent == nil || len(d.recent) >= remembered {
		d.recent, d.old = make(map[string]ticketstore.Ticket), d.recent
	}
	d.recent[string(line)] = t
	return t, nil
}
