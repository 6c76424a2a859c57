package zkstore

import (
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// DefaultRoot is the znode below which everything is kept, unless [WithRoot] or the URL says
// otherwise.
const DefaultRoot = "/pathlock"

// The znodes of the tree ("testplan", "plan-001") are
//
//	/pathlock                                          container
//	/pathlock/testplan:plan-001                        container: the latest fence, and which tickets there are
//	/pathlock/testplan:plan-001/t-<id>-0000000001      one ticket: persistent, sequential
//	/pathlock/~sweeper                                 ephemeral: whose turn it is to clear away
const (
	treeSeparator = ":"
	ticketPrefix  = "t-"
	sweeperName   = "~sweeper"
	stampPrefix   = "~stamp-" // of a znode that exists within one transaction
)

// names builds the paths of znodes.
type names struct{ root string }

func (n names) tree(tree pathlock.Tree) string { return n.root + "/" + nameOf(tree) }

func (n names) ticket(tree pathlock.Tree, name string) string { return n.tree(tree) + "/" + name }

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

// idBytes is how long the random part of a ticket's name is. ZooKeeper begins to count anew in a
// tree that was empty: what has the same name is the same ticket because of this part alone.
const idBytes = 16

func newID() string { return rand.Text()[:idBytes] }

// idOf returns the random part of a ticket's name, "" if it is no ticket's.
func idOf(name string) string {
	rest, ok := strings.CutPrefix(name, ticketPrefix)
	if !ok || len(rest) <= idBytes || rest[idBytes] != '-' {
		return ""
	}
	return rest[:idBytes]
}
