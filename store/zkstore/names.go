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
//	/pathlock/~sweeper                    ephemeral: whose turn it is to clear away
const (
	treeSeparator = ":"
	sweeperName   = "~sweeper"
	stampPrefix   = "~stamp-" // of a znode that exists within one transaction
)

// names builds the paths of znodes.
type names struct{ root string }

func (n names) tree(tree pathlock.Tree) string { return n.root + "/" + nameOf(tree) }

func (n names) life(tree pathlock.Tree, id string) string { return n.tree(tree) + "/life-" + id }

// waiter returns the path of the znode that a waiting ticket's process watches.
func (n names) waiter(tree pathlock.Tree, t ticketstore.Ticket) string {
	return n.tree(tree) + "/wait-" + t.Home
}

func (n names) sweeper() string { return n.root + "/" + sweeperName }

// parentOf returns the path of the znode above, "" if that is the root.
func parentOf(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// nameOf returns the name of a tree's znode. The names of two trees differ, and none is special to
// ZooKeeper.
func nameOf(tree pathlock.Tree) string {
	return escape(tree.Namespace()) + treeSeparator + escape(tree.ID())
}

// treeOf returns the tree of a znode's name, false if it is no tree's.
func treeOf(name string) (pathlock.Tree, bool) {
	namespace, id, ok := strings.Cut(name, treeSeparator)
	if !ok {
		return pathlock.Tree{}, false
	}
	namespace, err := url.PathUnescape(namespace)
	if err != nil {
		return pathlock.Tree{}, false
	}
	if id, err = url.PathUnescape(id); err != nil {
		return pathlock.Tree{}, false
	}
	tree, err := pathlock.NewTree(namespace, id)
	return tree, err == nil && nameOf(tree) == name
}

// escape writes text as in a URL. Letters, digits, dot, dash and underscore stand for themselves.
func escape(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(".-_", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

// newID returns a name that nothing else has.
func newID() string { return rand.Text()[:16] }
