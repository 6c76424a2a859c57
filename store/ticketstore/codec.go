package ticketstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// Decode returns the ticket that [Encode] has written. Its Key is empty.
func Decode(text []byte) (Ticket, error) {
	var w ticketText
	if err := json.Unmarshal(text, &w); err != nil {
		return Ticket{}, fmt.Errorf("ticketstore: not a ticket: %w", err)
	}
	switch w.State {
	case Waiting, Granted, Refused:
	default:
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
