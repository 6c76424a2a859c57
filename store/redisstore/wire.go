package redisstore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// nodeID is what the scripts call a node: n and eight bytes of the SHA-256 of its path, so that a
// deep node costs no more than a shallow one. Two paths that shared an id would conflict where they
// need not, and never miss a conflict.
type nodeID [len(gateNode)]byte

// nodeIDs returns the ids of the nodes that are claimed, in their order.
func nodeIDs(claims []pathlock.Claim) []nodeID {
	ids := make([]nodeID, len(claims))
	path := make([]byte, 0, 256)
	for i, c := range claims {
		path = append(path[:0], c.Path.Column()...)
		sum := sha256.Sum256(path)
		ids[i][0] = 'n'
		copy(ids[i][1:], sum[:])
	}
	return ids
}

// claimSet is what a request asks for, as the scripts know it.
type claimSet struct {
	// claims are the ids and modes one after the other; the first is that on the gate's node.
	claims string
	// paths are the claims as snapshots show them.
	paths string
	// origin has for each of claims but the first, the gate's, the one that it comes from.
	origin []pathlock.Claim
}

// newClaimSet encodes a request's claims. Who claims a node has IX on the gate, and who wants the
// gate has X on it.
func newClaimSet(gate bool, claims []pathlock.Claim) claimSet {
	set := claimSet{paths: encodePaths(claims), origin: claims}
	ids := nodeIDs(claims)
	if twins(ids) {
		ids, set.origin = merge(ids, claims)
	}
	onGate := pathlock.ModeIX
	if gate {
		onGate = pathlock.ModeX
	}
	var b strings.Builder
	b.Grow((1 + len(ids)) * claimBytes)
	b.WriteString(gateNode)
	b.WriteByte(digit(onGate))
	for i, id := range ids {
		b.Write(id[:])
		b.WriteByte(digit(set.origin[i].Mode))
	}
	set.claims = b.String()
	return set
}

// twins reports whether two of ids are the same. That is next to impossible, but would make the
// scripts count wrongly.
func twins(ids []nodeID) bool {
	numbers := make([]uint64, len(ids))
	for i, id := range ids {
		numbers[i] = binary.BigEndian.Uint64(id[1:])
	}
	slices.Sort(numbers)
	return len(slices.Compact(numbers)) < len(ids)
}

// merge makes one of claims whose ids are the same, in the supremum of their modes.
func merge(ids []nodeID, claims []pathlock.Claim) (once []nodeID, merged []pathlock.Claim) {
	for i, id := range ids {
		if at := slices.Index(once, id); at >= 0 {
			merged[at].Mode = pathlock.Supremum(merged[at].Mode, claims[i].Mode)
			continue
		}
		once = append(once, id)
		merged = append(merged, claims[i])
	}
	return once, merged
}

// claimBytes is the length of a claim: an id and the digit of a mode.
const claimBytes = len(nodeID{}) + 1

func digit(m pathlock.Mode) byte { return '0' + byte(m) }

// encodePaths writes claims so that a path costs no more than what it does not share with the one
// before it: for each, the mode, the number of shared bytes, the number of further bytes, and
// these.
func encodePaths(claims []pathlock.Claim) string {
	b := make([]byte, 0, 256)
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

// apartMember is what the deadlines have for a grant with a lease of its own: apart_member
// in scripts/lib/record.lua. There is one for a grant exactly if the grant is apart.
func apartMember(owner pathlock.Owner, id pathlock.GrantID) string {
	return "g" + strconv.Itoa(len(owner)) + ":" + string(owner) + string(id)
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

// forever bounds all times: the server counts a hundred years with exact numbers.
const forever = 100 * 365 * 24 * time.Hour

// milliseconds writes d in whole milliseconds, rounded up.
func milliseconds(d time.Duration) string {
	d = min(d, forever)
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10)
}

// leaseTime writes how long a lease is to last. The server counts from the beginning of the current
// millisecond, so that up to a millisecond is over already. leaseTime adds one: a lease must not
// end on the server before its holder knows that it has ended.
func leaseTime(d time.Duration) string { return milliseconds(min(d, forever) + time.Millisecond) }

// instant reads a time in milliseconds since 1970; 0 is the zero Time.
func instant(ms string) time.Time {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// flag returns b as the scripts know it.
func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
