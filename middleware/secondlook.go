package middleware

import (
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// lookAgain resolves the nodes again under their locks, and reports whether any of them has moved
// since the locks were planned.
func (v *visit) lookAgain(ctx context.Context, planned lockspec.Binding, locks *held, attempt int) (found lockspec.Binding, moved bool, err error) {
	if !v.mustLookAgain(planned, locks) {
		return planned, false, nil
	}
	under := locks.context(ctx)
	if found, err = v.plan(under, attempt, planned); err != nil {
		return found, false, because(under, err)
	}
	return found, !slices.Equal(planned.Nodes, found.Nodes), nil
}

// mustLookAgain reports whether the middleware has to find out if nodes moved before they were
// locked. After a wait it always has to: earlier holders may well have moved them, and the
// assertion could only refuse. If the hold has to follow a node, it has to know where the node is.
// Under Authorize it always has to as well, because the assertion knows nothing of who may write
// where.
func (v *visit) mustLookAgain(planned lockspec.Binding, locks *held) bool {
	if len(planned.Nodes) == 0 {
		return false
	}
	follows := v.hold != nil && len(planned.Moves) > 0
	return !v.spec.IsAsserted() || v.config.Authorize != nil || follows || locks.waited()
}

// changed names a node whose path changed.
func changed(planned, found lockspec.Binding) error {
	for i, was := range planned.Nodes {
		if i < len(found.Nodes) && found.Nodes[i] != was {
			return fmt.Errorf("%w: %s is now %s, again and again while its lock was being taken",
				pathlock.ErrPathChanged, was.Path, found.Nodes[i].Path)
		}
	}
	return fmt.Errorf("%w: again and again while the locks were being taken", pathlock.ErrPathChanged)
}
