package ticketstore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// ticketText is a ticket as text, with each claim as "X /dir1/dir2".
type ticketText struct {
	Ticket
	Claims []string `json:"claims,omitempty"`
}

// Encode returns a ticket as text: JSON, which is valid UTF-8 and has neither NUL nor a line break.
func Encode(t Ticket) []byte {
	w := ticketText{Ticket: t, Claims: make([]string, len(t.Claims))}
	for i, c := range t.Claims {
		w.Claims[i] = c.Mode.String() + " " + c.Path.String()
	}
	text, err := json.Marshal(w)
	if err != nil {
		panic(err) // no time or mode in a ticket is one that JSON has no form for
	}
	return text
}

// decode returns the ticket that [Encode] has written. Its Key is empty.
func decode(text []byte) (Ticket, error) {
	var w ticketText
	if err := json.Unmarshal(text, &w); err != nil {
		return Ticket{}, fmt.Errorf("ticketstore: not a ticket: %w", err)
	}
	if !slices.Contains([]TicketState{Waiting, Granted, Refused}, w.State) {
		return Ticket{}, fmt.Errorf("ticketstore: not a ticket: its state is %q", w.State)
	}
	for _, text := range w.Claims {
		var c pathlock.Claim
		mode, path, _ := strings.Cut(text, " ")
		if err := errors.Join(c.Mode.UnmarshalText([]byte(mode)), c.Path.UnmarshalText([]byte(path))); err != nil {
			return Ticket{}, fmt.Errorf("ticketstore: not a ticket: %w", err)
		}
		w.Ticket.Claims = append(w.Ticket.Claims, c)
	}
	return w.Ticket, nil
}

// List is the tickets of a tree, in the order of arrival, for a [Backend] that reads and writes a
// tree as one text. It is not changed.
type List struct {
	Tickets []Ticket
	lines   [][]byte // their texts
}

// Encode returns a list as text: a line for each ticket.
func (l List) Encode() []byte { return bytes.Join(l.lines, nil) }

// With returns the list after changes. It gives new tickets their Key: the place.
func (l List) With(c Changes) List {
	type entry struct {
		ticket Ticket
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
		next[t.Place] = entry{*t, append(Encode(*t), '\n')}
	}
	var list List
	for _, e := range slices.SortedFunc(maps.Values(next), func(a, b entry) int { return cmp.Compare(a.ticket.Place, b.ticket.Place) }) {
		list.Tickets, list.lines = append(list.Tickets, e.ticket), append(list.lines, e.line)
	}
	return list
}

func keyOf(t Ticket) string { return strconv.FormatUint(t.Place, 10) }

// Decoder decodes lists. It remembers lines, because most of a crowd's are as they were when the
// list is read again.
type Decoder struct {
	mu          sync.Mutex
	recent, old map[string]Ticket
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

// Ticket returns the ticket that a line has, as [Encode] has written it, with its place as its Key.
func (d *Decoder) Ticket(line []byte) (Ticket, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, known := d.recent[string(line)]
	if known {
		return t, nil
	}
	if t, known = d.old[string(line)]; !known {
		var err error
		if t, err = decode(line); err != nil {
			return t, err
		}
		t.Key = keyOf(t)
	}
	if d.recent == nil || len(d.recent) >= remembered {
		d.recent, d.old = make(map[string]Ticket), d.recent
	}
	d.recent[string(line)] = t
	return t, nil
}
