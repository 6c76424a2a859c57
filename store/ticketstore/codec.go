package ticketstore

import "errors"

// Encode returns a ticket as text: JSON, which is valid UTF-8 and has no NUL, whatever the texts in
// the ticket.
func Encode(t Ticket) []byte { panic("not yet") }

// Decode returns the ticket that Encode has written. Its Key is empty.
func Decode(text []byte) (Ticket, error) { return Ticket{}, errors.New("not yet") }
