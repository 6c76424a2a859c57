package zkstore

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Data of a ticket that is longer than plain is compressed: claim sets repeat their paths. The byte
// before it tells it from a plain one, which begins with a brace.
const (
	plain      = 512
	compressed = 'z'
)

// limits are what one request to a server can carry.
type limits struct {
	// tickets is how many of them one update writes, ticket how many bytes each may have. Together
	// they fit into one request.
	tickets, ticket int
}

// defaultPacket is the jute.maxbuffer that servers have unless they are told otherwise.
const defaultPacket = 1<<20 - 1

// newLimits leaves an eighth of a request to the tree's record and to paths.
func newLimits(packet int) limits {
	const tickets = 128
	return limits{tickets: tickets, ticket: packet / 8 * 7 / tickets}
}

// maxDecompressed bounds what a ticket may become when it is read.
const maxDecompressed = 64 << 20

// encode returns the data of a ticket's znode.
func (l limits) encode(t ticketstore.Ticket) ([]byte, error) {
	text := ticketstore.Encode(t)
	if len(text) <= plain {
		return text, nil
	}
	var b bytes.Buffer
	b.WriteByte(compressed)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() > l.ticket {
		return nil, fmt.Errorf("%w: the claims and the note take %d bytes compressed, at most %d are allowed: claim an ancestor, or the gate, in their place",
			pathlock.ErrInvalidRequest, b.Len(), l.ticket)
	}
	return b.Bytes(), nil
}

// decodeTicket reads the data of a ticket's znode.
func decodeTicket(data []byte) (ticketstore.Ticket, error) {
	if len(data) > 0 && data[0] == compressed {
		text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data[1:])), maxDecompressed))
		if err != nil {
			return ticketstore.Ticket{}, err
		}
		data = text
	}
	return ticketstore.Decode(data)
}
