package sqlstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// treeKey is what the tables have in the place of a tree's name: all names are as long then, no
// collation compares them, and every index has room for them.
type treeKey [sha256.Size]byte

// keyOf returns the key of a tree. Neither part of its name has a NUL.
func keyOf(tree pathlock.Tree) treeKey {
	return sha256.Sum256([]byte(tree.Namespace() + "\x00" + tree.ID()))
}

// ticketID is where a ticket is in the tables.
type ticketID struct {
	tree  treeKey
	place int64
}

// String is how a ticket is named in a message.
func (id ticketID) String() string {
	return hex.EncodeToString(id.tree[:]) + "/" + strconv.FormatInt(id.place, 10)
}

// parseTicketID undoes String.
func parseTicketID(s string) (ticketID, bool) {
	var id ticketID
	n := hex.EncodedLen(len(id.tree))
	if len(s) <= n || s[n] != '/' {
		return id, false
	}
	if _, err := hex.Decode(id.tree[:], []byte(s[:n])); err != nil {
		return id, false
	}
	place, err := strconv.ParseInt(s[n+1:], 10, 64)
	id.place = place
	return id, err == nil
}

// placeOf returns where a ticket is: its key says so or, before it has one, its place in the order
// of arrival.
func placeOf(t ticketstore.Ticket) (int64, error) {
	if t.Key != "" {
		place, err := strconv.ParseInt(t.Key, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("sqlstore: %q is no key of a ticket", t.Key)
		}
		return place, nil
	}
	if t.Place > math.MaxInt64 {
		return 0, fmt.Errorf("%w: sqlstore: the place %d in a queue", pathlock.ErrInvalidRequest, t.Place)
	}
	return int64(t.Place), nil
}

// The states of tickets, as they are in the tables.
const (
	waiting = iota
	granted
	refused
	// called is the state of a ticket that waits, and that its process has been told to look at.
	called
)

func stateOf(t ticketstore.Ticket) int {
	switch {
	case t.State == ticketstore.Waiting && t.Looks > 0:
		return called
	case t.State == ticketstore.Waiting:
		return waiting
	case t.State == ticketstore.Granted:
		return granted
	default:
		return refused
	}
}

// micros is a time in the tables: microseconds since 1970, UTC.
func micros(t time.Time) int64 { return t.UnixMicro() }

// ticketRow is a row to write.
type ticketRow struct {
	place int64
	state int
	looks int64
	// home is the process that waits, "" if none has to be told of the ticket.
	home string
	ends int64
	text []byte
}

// message tells another process that a ticket is not what it was.
type message struct {
	home   string
	ticket ticketID
}

// image is what the tables have of a tree.
type image struct {
	// began is a moment by this process's clock before now, and now the database's clock in µs.
	began time.Time
	now   int64
	// exists says that the tree has a row, with its version and its latest fence.
	exists  bool
	version int64
	fence   int64
	tickets map[int64]*entry
}

// change is what is written in one step.
type change struct {
	tree pathlock.Tree
	key  treeKey
	// exists and from say what the tables have to hold still.
	exists bool
	from   int64
	// version, fence and now are what the tree's row becomes.
	version, fence, now int64
	put                 []ticketRow
	gone                []int64
	messages            []message
}
