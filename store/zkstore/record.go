package zkstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/store/internal/ticketlist"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// record is the data of a tree's znode: all that the tree holds. Each update writes it, so its
// version is the tree's. Its form is a line of JSON, and the tickets.
type record struct {
	// Fence is the latest in the tree.
	Fence uint64 `json:"fence"`
	// Life names the znode beside the tickets' that goes with the tree's: an update that requires
	// it cannot change another znode of the same name and version, made after this one was removed.
	Life string `json:"life"`

	tickets ticketlist.List
}

var errRecord = errors.New("the znode of the tree holds something else")

func (r record) encode() ([]byte, error) {
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, []byte{'\n'}, r.tickets.Encode()), nil
}

func decodeRecord(d *ticketlist.Decoder, data []byte) (r record, err error) {
	head, tickets, _ := bytes.Cut(data, []byte{'\n'})
	if err = json.Unmarshal(head, &r); err == nil {
		r.tickets, err = d.Decode(tickets)
	}
	if err != nil {
		return record{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	return r, nil
}

// after returns the record that an update leaves.
func (r record) after(c ticketstore.Changes) record {
	r.tickets, r.Fence = r.tickets.With(c), c.Fence
	return r
}
