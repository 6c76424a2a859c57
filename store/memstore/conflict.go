package memstore

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// conflictError says what keeps r from being granted: a holder where there is one, which
// tells people more than an earlier waiter does. err may be nil.
func (t *table) conflictError(r *request, waited time.Duration, err error) error {
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
func (t *table) deadlockError(r *request, o obstacle) error {
	path, mode := o.target()
	return &pathlock.DeadlockError{
		Tree: t.tree, Path: path, Mode: mode, Gate: r.Gate,
		Blocker: o.blocker(),
	}
}

// target returns the node that was asked for and not granted. The gate's
// node has no path of its own; a request that somebody else's gate keeps out fails at its topmost claim.
func (o obstacle) target() (pathlock.Path, pathlock.Mode) {
	r := o.asked.request
	switch {
	case r.Gate && o.asked.node.key.gate:
		return pathlock.Root(), pathlock.ModeX
	case o.asked.node.key.gate:
		return r.Claims[0].Path, r.Claims[0].Mode
	default:
		return o.asked.node.key.path, o.asked.mode
	}
}

// blocker describes who is in the way. The intention that
// everybody has on the gate is nothing that people know of: the blocker's topmost claim is named instead.
func (o obstacle) blocker() pathlock.Blocker {
	r := o.by.request
	b := pathlock.Blocker{
		Owner:   r.owner.id,
		Note:    r.Note,
		Gate:    r.Gate,
		Mode:    o.by.mode,
		Waiting: !r.granted(),
		Since:   r.since,
		Until:   r.until,
	}
	if o.by.node.key.gate && !r.Gate {
		b.Mode = r.Claims[0].Mode
	}
	if r.granted() {
		b.Until = r.owner.until
	}
	return b
}
