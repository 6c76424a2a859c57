package redisstore

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// claimBytes is the length of a claim: the name of a node and the digit of a mode.
const claimBytes = len(gateNode) + 1

// claimSet is what a request asks for, as the scripts know it.
type claimSet struct {
	// claims are the nodes' names and the modes one after the other; the first is that on the
	// gate's node. A node's name is n and eight bytes of the SHA-256 of its path, so that a deep
	// node costs no more than a shallow one. Two nodes that shared a name would conflict where they
	// need not.
	claims string
	// paths are the claims as snapshots show them.
	paths string
}

// newClaimSet encodes a request's claims. A request that claims a node has IX on the gate, and one
// for the gate has X on it.
func newClaimSet(gate bool, claims []pathlock.Claim) claimSet {
	onGate := pathlock.ModeIX
	if gate {
		onGate = pathlock.ModeX
	}
	b := make([]byte, 0, (1+len(claims))*claimBytes)
	b = append(append(b, gateNode...), digit(onGate))
	for _, c := range claims {
		sum := sha256.Sum256([]byte(c.Path.Column()))
		b = append(append(append(b, 'n'), sum[:len(gateNode)-1]...), digit(c.Mode))
	}
	return claimSet{string(b), encodePaths(claims)}
}

func digit(m pathlock.Mode) byte { return '0' + byte(m) }

// pathEnd stands behind each of the paths in a record. No path has it: a name has no control
// characters.
const pathEnd = "\x00"

// encodePaths writes claims as snapshots show them: for each, the mode and the path.
func encodePaths(claims []pathlock.Claim) string {
	var b strings.Builder
	room := 0
	for _, c := range claims {
		room += 1 + len(c.Path.Column()) + len(pathEnd)
	}
	b.Grow(room)
	for _, c := range claims {
		b.WriteByte(digit(c.Mode))
		b.WriteString(c.Path.Column())
		b.WriteString(pathEnd)
	}
	return b.String()
}

// decodePaths undoes encodePaths.
func decodePaths(s string) ([]pathlock.Claim, error) {
	claims := []pathlock.Claim{}
	for text := range strings.SplitSeq(strings.TrimSuffix(s, pathEnd), pathEnd) {
		if text == "" {
			break // no claims
		}
		path, err := pathlock.ParsePath(text[1:])
		if err != nil {
			return nil, fmt.Errorf("a path in a record: %w", err)
		}
		claims = append(claims, pathlock.Claim{Path: path, Mode: pathlock.Mode(text[0] - '0')})
	}
	return claims, nil
}

// encodeOrigin writes an origin as snapshots show it: as JSON, or "" if nothing is known.
func encodeOrigin(o pathlock.Origin) string {
	if o.IsZero() {
		return ""
	}
	text, _ := json.Marshal(o) // strings always have a form
	return string(text)
}

// decodeOrigin undoes encodeOrigin.
func decodeOrigin(s string) (o pathlock.Origin) {
	_ = json.Unmarshal([]byte(s), &o) // nothing is known of an origin in another form
	return o
}

// milliseconds writes d in whole milliseconds, rounded up. The server counts the hundred years of
// [pathlock.Forever] with exact numbers.
func milliseconds(d time.Duration) string {
	d = min(d, pathlock.Forever)
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10)
}

// leaseTime writes how long a lease is to last. The server counts from the beginning of the current
// millisecond, so that up to a millisecond is over already. leaseTime adds one: a lease must not
// end on the server before its holder knows that it has ended.
func leaseTime(d time.Duration) string {
	return milliseconds(min(d, pathlock.Forever) + time.Millisecond)
}

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
