package pathlock

import (
	"crypto/rand"
	"log/slog"
	"strings"
)

// Owner identifies who holds: everything acquired under one [Scope] in one
// tree belongs to one owner and never conflicts with itself. It is random and
// unguessable, because whoever knows it can release what it holds; show
// [Owner.Short] where people or logs read it.
type Owner string

// newOwner returns an owner that no other process has.
func newOwner() Owner { return Owner(rand.Text()) }

// detachedMark is what owners of detached holds begin with, and no other does.
const detachedMark = "d-"

// newDetachedOwner returns an owner for a detached hold.
func newDetachedOwner() Owner { return detachedMark + newOwner() }

// Detached reports whether o is the owner of a hold that [Lock.Detach] has made outlive its
// process: one that lives until its lease ends, and that whoever has its [Token] can make a lock
// again.
func (o Owner) Detached() bool { return strings.HasPrefix(string(o), detachedMark) }

// Short returns the first characters of o: enough to recognise it, too little to use it.
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

// LogValue implements [slog.LogValuer], so that an owner is never logged whole.
func (o Owner) LogValue() slog.Value { return slog.StringValue(o.Short()) }

// GrantID identifies one request of an owner for a grant, and then the grant: another owner may use
// the same. The locker makes it anew for every request that it sends to a store, so that a request
// which is sent twice because its reply was lost is answered, and counted, once.
type GrantID string
