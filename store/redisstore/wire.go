package redisstore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// nodeName returns what the scripts call a node: n and eight bytes of the path's
// SHA-256, so that a deep node costs no more than a shallow one. Should two paths ever share
// a name, they conflict where they need not; they never miss a conflict.
func nodeName(p pathlock.Path) string {
	sum := sha256.Sum256([]byte(p.Column()))
	return "n" + string(sum[:8])
}

// claimSet is what a request asks for, as the scripts know it.
type claimSet struct {
	// claims are the names and modes one after the other; the first is that on the gate's node.
	claims string
	// paths are the claims as snapshots show them.
	paths string
	// origin has for each of claims the one that it comes from; the first, the gate's, has none.
	origin []pathlock.Claim
}

// newClaimSet encodes a request's claims. Who claims a node has IX on the gate, and who wants the gate has X on it.
func newClaimSet(gate bool, claims []pathlock.Claim) claimSet {
	type named struct {
		name  string
		claim pathlock.Claim
	}
	all := make([]named, 0, len(claims))
	seen := make(map[string]int, len(claims))
	for _, c := range claims {
		name := nodeName(c.Path)
		if i, ok := seen[name]; ok {
			all[i].claim.Mode = pathlock.Supremum(all[i].claim.Mode, c.Mode)
			continue
		}
		seen[name] = len(all)
		all = append(all, named{name, c})
	}

	var b strings.Builder
	set := claimSet{paths: encodePaths(claims), origin: make([]pathlock.Claim, 1, len(all)+1)}
	onGate := pathlock.ModeIX
	if gate {
		onGate = pathlock.ModeX
	}
	b.WriteString(gateNode)
	b.WriteByte(digit(onGate))
	for _, n := range all {
		b.WriteString(n.name)
		b.WriteByte(digit(n.claim.Mode))
		set.origin = append(set.origin, n.claim)
	}
	set.claims = b.String()
	return set
}

// claim returns the name and the mode of the i-th claim, counted from 1 as the scripts count.
func (c claimSet) claim(i int) (name string, mode string) {
	const bytes = len(gateNode) + 1
	one := c.claims[(i-1)*bytes : i*bytes]
	return one[:len(gateNode)], one[len(gateNode):]
}

func digit(m pathlock.Mode) byte { return '0' + byte(m) }

// encodePaths writes claims so that a path costs no more than what it does not share with
// the one before it: for each, the mode, the number of shared bytes, the number of further bytes, and these.
func encodePaths(claims []pathlock.Claim) string {
	var b []byte
	previous := ""
	for _, c := range claims {
		path := c.Path.Column()
		shared := 0
		for shared < min(len(path), len(previous)) && path[shared] == previous[shared] {
			shared++
		}
		b = append(b, digit(c.Mode))
		b = binary.AppendUvarint(b, uint64(shared))
		b = binary.AppendUvarint(b, uint64(len(path)-shared))
		b = append(b, path[shared:]...)
		previous = path
	}
	return string(b)
}

// decodePaths undoes encodePaths.
func decodePaths(s string) ([]pathlock.Claim, error) {
	claims := []pathlock.Claim{}
	previous := ""
	rest := []byte(s)
	for len(rest) > 0 {
		mode := pathlock.Mode(rest[0] - '0')
		rest = rest[1:]
		shared, n := binary.Uvarint(rest)
		if n <= 0 || shared > uint64(len(previous)) {
			return nil, fmt.Errorf("the claims of a record are damaged")
		}
		rest = rest[n:]
		further, n := binary.Uvarint(rest)
		if n <= 0 || further > uint64(len(rest)-n) {
			return nil, fmt.Errorf("the claims of a record are damaged")
		}
		rest = rest[n:]
		previous = previous[:shared] + string(rest[:further])
		rest = rest[further:]
		path, err := pathlock.ParsePath(previous)
		if err != nil {
			return nil, fmt.Errorf("a path in a record: %w", err)
		}
		claims = append(claims, pathlock.Claim{Path: path, Mode: mode})
	}
	return claims, nil
}

// decodeRecord reads strings, each with four bytes of length before it, as the scripts pack them.
func decodeRecord(s string) ([]string, error) {
	var fields []string
	for len(s) > 0 {
		if len(s) < 4 {
			return nil, fmt.Errorf("a record is damaged")
		}
		n := binary.BigEndian.Uint32([]byte(s[:4]))
		if uint64(n) > uint64(len(s)-4) {
			return nil, fmt.Errorf("a record is damaged")
		}
		fields = append(fields, s[4:4+n])
		s = s[4+n:]
	}
	return fields, nil
}

// milliseconds returns d in whole milliseconds, rounded up: what is given is never less than what was asked for.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// flag returns b as the scripts know it.
func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
