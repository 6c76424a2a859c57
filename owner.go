package pathlock

import (
	"crypto/rand"
	"log/slog"
	"strings"
)

// Owner identifies who holds. Everything acquired under one [Scope] in one tree belongs to one
// owner and never conflicts with itself. An owner is random and unguessable, because knowing it is
// enough to release its holds. Show [Owner.Short] to people and in logs.
type Owner string

// newOwner returns a random owner.
func newOwner() Owner { return Owner(rand.Text()) }

// detachedMark begins the owners of detached holds, and no others.
const detachedMark = "d-"

// newDetachedOwner returns a random owner for a detached hold.
func newDetachedOwner() Owner { return detachedMark + newOwner() }

// Detached reports whether o owns a detached hold, one that [Lock.Detach] has made outlive its
// process. It lives until its lease ends, and its [Token] makes it a lock again.
func (o Owner) Detached() bool { return strings.HasPrefix(string(o), detachedMark) }

// Short returns the first characters of o, enough to recognise it and too few to use it.
func (o Owner) Short() string {
	shown := 6
	if o.Detached() {
		shown += len(detachedMark)
	}
	if len(o) <= shown {
		return string(o)
	}
	return string(o[:shown]) + "…"
}

// LogValue implements [slog.LogValuer]: an owner is never logged whole.
func (o Owner) LogValue() slog.Value { return slog.StringValue(o.Short()) }

// What newOwner's text consists of: 26 characters of base32, 130 bits.
const (
	ownerBytes   = 26
	ownerLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// isDetachedOwner reports whether a text has the form of newDetachedOwner's.
func isDetachedOwner(s string) bool {
	rest, ok := strings.CutPrefix(s, detachedMark)
	return ok && len(rest) == ownerBytes && strings.Trim(rest, ownerLetters) == ""
}

// GrantID identifies an owner's request for a grant, and then the grant. Different owners may use
// the same id. The locker makes a new id for every request. A store answers and counts a request
// once if it is sent twice, because the first reply was lost.
type GrantID string
