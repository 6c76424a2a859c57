package zkstore

import (
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// DefaultRoot is the znode below which everything is kept, unless [WithRoot] or the URL says
// otherwise.
const DefaultRoot = "/pathlock"

// The znodes of the tree ("testplan", "plan-001") are
//
//	/pathlock
//	/pathlock/testplan:plan-001           all that the tree holds: its tickets, and the latest fence
//	/pathlock/testplan:plan-001/life-<id> tells the znode from a later one of the same name
//	/pathlock/testplan:plan-001/wait-<id> one for each ticket that waits, for its process to watch
//	/pathlock/stamp-<id>                  exists within one transaction
const treeSeparator = ":"

// names builds the paths of znodes.
type names struct{ root string }

func (n names) tree(tree pathlock.Tree) string { return n.root + "/" + nameOf(tree) }

func (n names) life(tree pathlock.Tree, id string) string { return n.tree(tree) + "/life-" + id }

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
