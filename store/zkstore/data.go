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

// maxTicketData is how long a ticket's data may be, and maxTickets how many of them one update
// writes. Together they fit into one request of the default size of 1 MB.
const (
	maxTicketData = 14 << 10
	maxTickets    = 64
)

// maxDecompressed bounds what a ticket may become when it is read.
const maxDecompressed = 64 << 20

// encodeTicket returns the data of a ticket's znode.
func encodeTicket(t ticketstore.Ticket) ([]byte, error) {
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
	if b.Len() > maxTicketData {
		return nil, fmt.Errorf("%w: a claim set that takes %d bytes compressed, at most %d are allowed: claim an ancestor, or the gate, in its place",
			pathlock.ErrInvalidRequest, b.Len(), maxTicketData)
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
