package locktable

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// conflictError says what is in r's way. It prefers a holder, which tells people more than an
// earlier waiter. err may be nil.
func (t *Table) conflictError(r *Request, waited time.Duration, err error) error {
	o := r.holder()
	if o.by == nil {
		o = r.predecessor()
	}
	path, mode := o.target()
	return &pathlock.ConflictError{
		Tree: t.tree, Path: path, Mode: mode, Gate: r.Gate,
		Blocker: o.blocker(), Waited: waited, Err: err,
	}
}

// deadlockError says that r's owner would wait for itself through o.
func (t *Table) deadlockError(r *Request, o obstacle) error {
	path, mode := o.target()
	return &pathlock.DeadlockError{
		Tree: t.tree, Path: path, Mode: mode, Gate: r.Gate,
		Blocker: o.blocker(),
	}
}

// target returns the claim that was not granted. The gate's node has no path, so a request that
// somebody else's gate keeps out fails at its topmost claim.
func (o obstacle) target() (pathlock.Path, pathlock.Mode) {
	c := o.asked.Claim
	if o.asked.ofGate() && !o.asked.request.Gate {
		c = o.asked.request.topmost()
	}
	return c.Path, c.Mode
}

// blocker describes who is in the way. It names the blocker's topmost claim instead of the
// intention on the gate, which people do not know of.
func (o obstacle) blocker() pathlock.Blocker {
	r := o.by.request
	b := pathlock.Blocker{
		Owner:   r.owner.id,
		Note:    r.Note,
		Gate:    r.Gate,
		Mode:    o.by.Mode,
		Waiting: !r.granted(),
		Since:   r.since,
		Until:   r.until,
	}
	if o.by.ofGate() && !r.Gate {
		b.Mode = r.topmost().Mode
	}
	if r.granted() {
		b.Until = r.ends()
	}
	return b
}
