package zkstore

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

const defaultRoot = "/pathlock"

// The znodes of the tree ("testplan", "plan-001") are
//
//	/pathlock
//	/pathlock/testplan:plan-001           all that the tree holds: its tickets, and the latest fence
//	/pathlock/testplan:plan-001/life-<id> tells the znode from a later one of the same name
//	/pathlock/testplan:plan-001/wait-<id> one for each ticket that waits, for its process to watch
//	/pathlock/testplan:plan-001/reserved  while a process has reserved the next update
//	/pathlock/stamp-<id>                  exists within one transaction
const treeSeparator = ":"

// names builds the paths of znodes.
type names struct{ root string }

func (n names) tree(tree pathlock.Tree) string { return n.root + "/" + nameOf(tree) }

func (n names) life(tree pathlock.Tree, id string) string { return n.tree(tree) + "/life-" + id }

func (n names) reservation(tree pathlock.Tree) string { return n.tree(tree) + "/reserved" }

// waiter returns the path of the znode that a waiting ticket's process watches.
func (n names) waiter(tree pathlock.Tree, t ticketstore.Ticket) string {
	return n.tree(tree) + "/wait-" + t.Home
}

// stamp returns the path of a znode that no tree has.
func (n names) stamp() string { return n.root + "/stamp-" + newID() }

// parentOf returns the path of the znode above, "" if that is the root.
func parentOf(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// nameOf returns the name of a tree's znode. The names of two trees differ, and none is special to
// ZooKeeper.
func nameOf(tree pathlock.Tree) string {
	return url.QueryEscape(tree.Namespace()) + treeSeparator + url.QueryEscape(tree.ID())
}

// treeOf returns the tree of a znode's name, false if it is no tree's.
func treeOf(name string) (pathlock.Tree, bool) {
	namespace, id, ok := strings.Cut(name, treeSeparator)
	if !ok {
		return pathlock.Tree{}, false
	}
	namespace, err := url.QueryUnescape(namespace)
	if err != nil {
		return pathlock.Tree{}, false
	}
	if id, err = url.QueryUnescape(id); err != nil {
		return pathlock.Tree{}, false
	}
	tree, err := pathlock.NewTree(namespace, id)
	return tree, err == nil && nameOf(tree) == name
}

// newID returns a name that nothing else has.
func newID() string { return rand.Text()[:16] }

// record is the data of a tree's znode: all that the tree holds. Each update writes it, so its
// version is the tree's. Its form is a line of JSON, and the tickets.
type record struct {
	// Fence is the latest in the tree.
	Fence uint64 `json:"fence"`
	// Life names the znode beside the tickets' that goes with the tree's: an update that requires
	// it cannot change another znode of the same name and version, made after this one was removed.
	Life string `json:"life"`

	tickets ticketstore.List
}

var errRecord = errors.New("the znode of the tree holds something else")

func (r record) encode() ([]byte, error) {
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, []byte{'\n'}, r.tickets.Encode()), nil
}

func decodeRecord(d *ticketstore.Decoder, data []byte) (r record, err error) {
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
