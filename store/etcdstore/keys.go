package etcdstore

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// DefaultPrefix is what the names of all keys begin with, unless [WithPrefix] says otherwise.
const DefaultPrefix = "/pathlock/"

// keys names the keys of a store. For the tree ("testplan", "plan-001"):
//
//	/pathlock/testplan/plan-001/00000000000001f4  one ticket, by its place in the queue
//	/pathlock//guards/01c                         the latest fence there, and in a few other trees
//	/pathlock//guards/01c/reserved                while a process has reserved the next update
//
// Every update writes the guard of its tree, if it is still as it was read: so two updates never
// act on the same state. Namespace and id are escaped, so that neither can hold a slash: no tree's
// keys begin with another's.
type keys struct {
	prefix string // ends in a slash
}

// tree is what all keys of a tree begin with, and no others.
func (k keys) tree(tree pathlock.Tree) string {
	return k.prefix + url.QueryEscape(tree.Namespace()) + "/" + url.QueryEscape(tree.ID()) + "/"
}

func (k keys) ticket(tree pathlock.Tree, place uint64) string {
	return k.tree(tree) + fmt.Sprintf("%016x", place)
}

// guards is how many keys guard all trees. They are never deleted, so a guard that is as it was
// read says that nobody has written since. Two trees that share one only disturb each other.
const guards = 1024

func (k keys) guard(tree pathlock.Tree) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.tree(tree))) // it never fails
	return fmt.Sprintf("%s/guards/%03x", k.prefix, h.Sum32()%guards)
}

// reservation is the key that is there while a process has reserved the next update of a tree.
func (k keys) reservation(tree pathlock.Tree) string { return k.guard(tree) + "/reserved" }

// ping is a key that no tree has: an escaped namespace is never empty.
func (k keys) ping() string { return k.prefix + "/ping" }

// place returns the place that the key of a ticket names.
func (k keys) place(key string) (uint64, error) {
	last := key[strings.LastIndexByte(key, '/')+1:]
	place, err := strconv.ParseUint(last, 16, 64)
	if err != nil || len(last) != 16 {
		return 0, fmt.Errorf("etcdstore: the key %q is no ticket's", key)
	}
	return place, nil
}

// treeOf returns the tree of a ticket's key, false if it is no ticket's.
func (k keys) treeOf(key string) (pathlock.Tree, bool) {
	rest, _ := strings.CutPrefix(key, k.prefix)
	parts := strings.Split(rest, "/")
	if len(parts) != 3 {
		return pathlock.Tree{}, false
	}
	namespace, first := url.QueryUnescape(parts[0])
	id, second := url.QueryUnescape(parts[1])
	tree, third := pathlock.NewTree(namespace, id)
	return tree, first == nil && second == nil && third == nil
}
