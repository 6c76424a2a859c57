package etcdstore

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
)

// DefaultPrefix is what the names of all keys begin with, unless [WithPrefix] says otherwise.
const DefaultPrefix = "/pathlock/"

// What follows a tree's name in its keys.
const (
	guardPart   = "guard"
	ticketsPart = "tickets/"
)

// keys names the keys of a store. For the tree ("testplan", "plan-001"):
//
//	/pathlock/testplan/plan-001/guard                     the fence, and who wrote last
//	/pathlock/testplan/plan-001/tickets/00000000000001f4  one ticket, by its place in the queue
//	/pathlock//floors/1c                                  shared with other trees, and empty: see floor
//
// Namespace and id are escaped, so that neither can hold a slash: no tree's keys begin with
// another's.
type keys struct {
	prefix string // ends in a slash
}

func newKeys(prefix string) keys {
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return keys{prefix: prefix}
}

// tree is what all keys of a tree begin with, and no others.
func (k keys) tree(tree pathlock.Tree) string {
	return k.prefix + escape(tree.Namespace()) + "/" + escape(tree.ID()) + "/"
}

func (k keys) guard(tree pathlock.Tree) string { return k.tree(tree) + guardPart }

func (k keys) ticket(tree pathlock.Tree, place uint64) string {
	return k.tree(tree) + ticketsPart + fmt.Sprintf("%016x", place)
}

// floors is how many keys count the guards that are made.
const floors = 64

// floor is the key that is written whenever the guard of a tree is made, or of another tree that
// shares the key. Guards come and go: without it, a guard that is not there would say nothing of
// whether there has been one since the tree was read.
func (k keys) floor(tree pathlock.Tree) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.tree(tree)))
	return fmt.Sprintf("%s/floors/%02x", k.prefix, h.Sum32()%floors)
}

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

// treeOf returns the tree that a key belongs to, and whether it is the key of a ticket.
func (k keys) treeOf(key string) (tree pathlock.Tree, ticket bool, err error) {
	rest, _ := strings.CutPrefix(key, k.prefix)
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 {
		return tree, false, fmt.Errorf("etcdstore: the key %q is not of this store", key)
	}
	namespace, err := url.PathUnescape(parts[0])
	if err == nil {
		var id string
		if id, err = url.PathUnescape(parts[1]); err == nil {
			tree, err = pathlock.NewTree(namespace, id)
		}
	}
	if err != nil {
		return tree, false, fmt.Errorf("etcdstore: the key %q is not of this store: %w", key, err)
	}
	return tree, strings.HasPrefix(parts[2], ticketsPart), nil
}

// rangeOf returns the end of the range of all keys with a prefix.
func rangeOf(prefix string) string { return clientv3.GetPrefixRangeEnd(prefix) }

// escape writes all bytes but letters, digits, dot, dash and underscore as in a URL.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}
