package pathlock

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// The reasons for which pathlock fails. Every error of this module matches one of them with
// [errors.Is], or the context's own error, or says that an argument makes no sense. What they mean
// to a client is told by [FailureOf].
var (
	// ErrConflict: others hold what was asked for, or stand before it in the
	// queue, and did not let go in time. The error is a [*ConflictError].
	ErrConflict = FailureLocked.New("pathlock: locked by others")
	// ErrDeadlock: a holder in the way waits, directly or through others, and be it behind them in
	// the queue, for the owner that asks. The error is a [*DeadlockError]. Release what is held and
	// start over. Cycles through several trees are found by nobody: see [Request].
	ErrDeadlock = FailureLocked.New("pathlock: deadlock")
	// ErrLost: the lease ended, or the store lost it, while the lock was still wanted, or before
	// its grant arrived. Somebody else may hold the nodes now.
	ErrLost = FailureLockStore.New("pathlock: lock lost")
	// ErrNotHeld: the release of something that is not held (any more).
	ErrNotHeld = errors.New("pathlock: not held")
	// ErrUnavailable: the lock store did not answer, or answered that it
	// cannot serve. Nothing was granted.
	ErrUnavailable = FailureLockStore.New("pathlock: lock store unavailable")
	// ErrClosed: the lock store has been closed by its program, and serves nothing any more. Such
	// an error matches ErrUnavailable, too.
	ErrClosed = FailureLockStore.New("pathlock: lock store closed")
	// ErrInvalidPath: a string that is not a canonical path, or a name that cannot be one.
	ErrInvalidPath = FailureInvalid.New("pathlock: invalid path")
	// ErrInvalidTree: a namespace or id that no [Tree] can have.
	ErrInvalidTree = FailureInvalid.New("pathlock: invalid tree")
	// ErrInvalidRequest: a [Request] that makes no sense; the message says why.
	ErrInvalidRequest = FailureInvalid.New("pathlock: invalid request")
	// ErrInvalidToken: a text that is no [Token].
	ErrInvalidToken = FailureInvalid.New("pathlock: invalid lock token")
	// ErrInvalidID: an id that no node can have, such as text where ids are numbers.
	ErrInvalidID = FailureInvalid.New("pathlock: invalid id")
	// ErrPathChanged: a node moved between the moment its path was read and
	// the moment the path was relied upon.
	ErrPathChanged = FailurePathChanged.New("pathlock: path changed")
	// ErrNotFound: there is no node with the id.
	ErrNotFound = FailureNotFound.New("pathlock: not found")
)

// Blocker is what stands in a request's way: a holder, or a waiter before it in the queue.
type Blocker struct {
	// Owner of the hold or of the place in the queue.
	Owner Owner
	// Note is the blocker's [Request.Note].
	Note string
	// Gate is set if the blocker has, or wants, the tree's gate.
	Gate bool
	// Mode is the mode that the blocker has, or wants, on the contested node.
	Mode Mode
	// Waiting is set if the blocker itself waits, as an earlier comer.
	Waiting bool
	// Since is when the blocker's hold, or its wait, began, and Until when its
	// lease ends unless it is renewed; both by the store's clock. Either is zero where
	// the store does not know it, as of a gate that another program took.
	Since, Until time.Time
}

// IsZero reports whether nothing is known about the blocker.
func (b Blocker) IsZero() bool { return b == Blocker{} }

// describe writes what can be said to strangers about the blocker.
func (b Blocker) describe() string {
	if b.IsZero() {
		return "another owner"
	}
	var s strings.Builder
	if b.Note != "" {
		fmt.Fprintf(&s, "%q", b.Note)
	} else {
		s.WriteString("owner " + b.Owner.Short())
	}
	if b.Owner.Detached() {
		s.WriteString(" (detached)")
	}
	verb := "has"
	if b.Waiting {
		verb = "waits for"
	}
	what := b.Mode.String()
	if b.Gate {
		what = "the gate"
	}
	fmt.Fprintf(&s, ", which %s %s", verb, what)
	if !b.Since.IsZero() {
		s.WriteString(" since " + b.Since.UTC().Format(time.RFC3339))
	}
	if !b.Until.IsZero() {
		s.WriteString(" until " + b.Until.UTC().Format(time.RFC3339))
	}
	return s.String()
}

// ConflictError says what a request that was not granted collided with. It matches [ErrConflict].
type ConflictError struct {
	// Tree, Path and Mode are the node that was asked for and not granted.
	// Where Gate is set, the tree's gate is what was asked for.
	Tree Tree
	Path Path
	Mode Mode
	Gate bool
	// Blocker is one of those who stood in the way.
	Blocker Blocker
	// Waited is how long the request waited.
	Waited time.Duration
	// Err is a further error that this one matches: the context's, where its
	// deadline ended the wait, or the store's own.
	Err error
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %s: held by %s", ErrConflict, target(e.Tree, e.Path, e.Mode, e.Gate), e.Blocker.describe())
}

// Unwrap returns [ErrConflict] and, if there is one, Err.
func (e *ConflictError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrConflict}
	}
	return []error{ErrConflict, e.Err}
}

// DeadlockError says which request would have closed a cycle of owners who
// wait for each other. It matches [ErrDeadlock].
type DeadlockError struct {
	// Tree, Path and Mode are the node that was asked for.
	// Where Gate is set, the tree's gate is what was asked for.
	Tree Tree
	Path Path
	Mode Mode
	Gate bool
	// Blocker is the holder who waits for the one that asked.
	Blocker Blocker
}

// Error implements error.
func (e *DeadlockError) Error() string {
	return fmt.Sprintf("%v: %s: held by %s, and that owner waits for this one", ErrDeadlock, target(e.Tree, e.Path, e.Mode, e.Gate), e.Blocker.describe())
}

// Unwrap returns [ErrDeadlock].
func (e *DeadlockError) Unwrap() error { return ErrDeadlock }

// target names what a request wanted.
func target(tree Tree, path Path, mode Mode, gate bool) string {
	if gate {
		return "the gate of " + tree.String()
	}
	return fmt.Sprintf("%s %s in %s", mode, shown.Text(path.String()), tree)
}
