package redisstore

import (
	"net/url"
	"strings"

	"github.com/pathlock-go/pathlock"
)

const defaultPrefix = "pathlock"

// The last part of a key's name says what the key is: see "The keys" in the package's
// documentation. What stands between the braces is the hash tag: all keys of a tree are in one slot
// of a cluster, and trees are spread over all slots.
const (
	locksKey     = ":locks"
	deadlinesKey = ":deadlines"
	queueKey     = ":queue"
	fenceKey     = ":fence"
	gateKey      = ":gate"
	withdrawnKey = ":withdrawn:"
)

// gateNode is the field of the locks hash that exists as long as anybody holds anything in the
// tree. The scripts treat the gate as a node above the root.
const gateNode = "gate-node"

// GateKey returns the name of the Redis key that is the gate of a tree, in a store with the given
// options: a lock of github.com/bsm/redislock. A program that obtains it stops new node locks and
// gates in the tree.
//
// Those that already hold node locks keep them, and may take more, so that they can finish. To have
// the tree for itself, the program asks HEXISTS of the tree's key locks (the gate's key with
// "locks" in place of "gate" at the end) with the field "gate-node" until the answer is 0, and
// refreshes its lock meanwhile. In another language, it takes the gate by SET key value NX PX ttl.
func GateKey(tree pathlock.Tree, opts ...Option) string {
	return newKeys(newConfig(opts).prefix).gate(tree)
}

// keys names the keys of trees.
type keys struct {
	// prefix is escaped.
	prefix string
}

func newKeys(prefix string) keys { return keys{string(appendEscaped(nil, prefix))} }

// scriptKeys are the last parts of the keys of a tree in the order in which every script expects
// them.
var scriptKeys = [...]string{locksKey, deadlinesKey, queueKey, fenceKey, gateKey}

// of returns the keys of a tree for a script. They share one text, since every call makes them.
func (k keys) of(tree pathlock.Tree) []string {
	base := k.base(tree)
	text, ends := make([]byte, 0, keyRoom), [len(scriptKeys)]int{}
	for i, last := range scriptKeys {
		text = append(append(text, base...), last...)
		ends[i] = len(text)
	}
	whole, begin := string(text), 0
	all := make([]string, 0, len(scriptKeys)+1)
	for _, end := range ends {
		all, begin = append(all, whole[begin:end]), end
	}
	return all
}

// about returns the keys of a request's tree, and behind them the one that remembers its
// withdrawal.
func (k keys) about(r requestKey) []string {
	all := k.of(r.tree)
	b := append(make([]byte, 0, keyRoom), strings.TrimSuffix(all[0], locksKey)...)
	b = appendEscaped(append(b, withdrawnKey...), string(r.owner))
	b = appendEscaped(append(b, ':'), string(r.grant))
	return append(all, string(b))
}

func (k keys) gate(tree pathlock.Tree) string { return k.base(tree) + gateKey }

// keyRoom has room for the keys of most trees.
const keyRoom = 512

func (k keys) base(tree pathlock.Tree) string {
	b := append(append(make([]byte, 0, keyRoom), k.prefix...), ":{"...)
	b = appendEscaped(b, tree.Namespace())
	b = appendEscaped(append(b, '/'), tree.ID())
	return string(append(b, '}'))
}

// channel returns the name of the pub/sub channel on which one store is told what it waits for.
func (k keys) channel(store string) string { return k.prefix + ":wake:" + store }

// pattern matches the names of all keys of all trees. No character of an escaped prefix means
// anything in a pattern.
func (k keys) pattern() string { return k.prefix + ":{*}:*" }

// treeInUse returns the tree that a key belongs to, if the key exists only while somebody holds or
// waits.
func (k keys) treeInUse(key string) (pathlock.Tree, bool) {
	rest, ok := strings.CutPrefix(key, k.prefix+":{")
	if !ok {
		return pathlock.Tree{}, false
	}
	tag, what, ok := strings.Cut(rest, "}")
	if !ok || what != locksKey && what != gateKey {
		return pathlock.Tree{}, false
	}
	namespace, id, ok := strings.Cut(tag, "/")
	if !ok {
		return pathlock.Tree{}, false
	}
	namespace, err := url.PathUnescape(namespace)
	id, failed := url.PathUnescape(id)
	if err != nil || failed != nil {
		return pathlock.Tree{}, false
	}
	tree, err := pathlock.NewTree(namespace, id)
	return tree, err == nil
}

// appendEscaped appends letters, digits, dot, dash and underscore as they are and every other byte
// as %XX: no text can end the hash tag, begin another, or be taken for a part of the name that it
// is not.
func appendEscaped(b []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '-', c == '_':
			b = append(b, c)
		default:
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}
