package pathlock

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// The reasons why pathlock fails. With [errors.Is], every error of this package matches one of them
// or the context's own error, or it says that an argument makes no sense. [FailureOf] says what an
// error means to a client.
var (
	// ErrConflict: others hold what the request asks for, or are ahead of it in the queue, and its
	// wait ended first. The error is a [*ConflictError].
	ErrConflict = FailureLocked.New("pathlock: locked by others")
	// ErrQueueFull: the request could not wait, because the queue of the tree is as long as the
	// store allows. The error is a [*ConflictError] too.
	ErrQueueFull = FailureLocked.New("pathlock: too many wait in the tree")
	// ErrDeadlock: a holder in the way is itself waiting for the owner that asks, directly, through
	// others, or behind them in the queue. The error is a [*DeadlockError]. Release what you hold
	// and start over. Cycles through several trees go undetected: see [Request].
	ErrDeadlock = FailureLocked.New("pathlock: deadlock")
	// ErrLost: the lease ended, or the store lost it, before the lock was released or its grant
	// arrived, or the lock was held for too long. Somebody else may hold the nodes.
	ErrLost = FailureLockStore.New("pathlock: lock lost")
	// ErrHeldTooLong: the lock has been released because its [Request.MaxHold] was over, or the
	// deadline of its context. The error matches [ErrLost] and [context.DeadlineExceeded], too.
	ErrHeldTooLong = errors.New("pathlock: held for too long")
	// ErrNotHeld: there is nothing left to release.
	ErrNotHeld = errors.New("pathlock: not held")
	// ErrUnavailable: the lock store did not answer, or answered that it cannot serve. Nothing was
	// granted.
	ErrUnavailable = FailureLockStore.New("pathlock: lock store unavailable")
	// ErrClosed: the program has closed the lock store. The error matches ErrUnavailable too.
	ErrClosed = FailureLockStore.New("pathlock: lock store closed")
	// ErrInvalidPath: a string is not a canonical path, or a name cannot be one.
	ErrInvalidPath = FailureInvalid.New("pathlock: invalid path")
	// ErrInvalidTree: no [Tree] can have the namespace or id.
	ErrInvalidTree = FailureInvalid.New("pathlock: invalid tree")
	// ErrInvalidRequest: a [Request] makes no sense. The message says why.
	ErrInvalidRequest = FailureInvalid.New("pathlock: invalid request")
	// ErrInvalidToken: a text is not a [Token].
	ErrInvalidToken = FailureInvalid.New("pathlock: invalid lock token")
	// ErrInvalidID: no node can have the id, such as text where ids are numbers.
	ErrInvalidID = FailureInvalid.New("pathlock: invalid id")
	// ErrPathChanged: a node moved after its path was read and before it was relied upon.
	ErrPathChanged = FailurePathChanged.New("pathlock: path changed")
	// ErrNotFound: no node has the id.
	ErrNotFound = FailureNotFound.New("pathlock: not found")
)

// Blocker blocks a request: a holder, or a waiter ahead of it in the queue.
type Blocker struct {
	// Owner has the hold or the place in the queue.
	Owner Owner
	// Note is the blocker's [Request.Note].
	Note string
	// Origin is where the blocker's request came from. Error texts do not quote it.
	Origin Origin
	// Gate says that the blocker holds the tree's gate, or waits for it.
	Gate bool
	// Mode is what the blocker holds on the contested node, or waits for.
	Mode Mode
	// Waiting says that the blocker waits, and came earlier.
	Waiting bool
	// Since is when the blocker's hold or wait began. Until is when its lease ends unless it is
	// renewed. Both are by the store's clock, and zero if the store does not know them, as for a
	// gate that another program took.
	Since, Until time.Time
}

// IsZero reports whether the blocker is unknown.
func (b Blocker) IsZero() bool { return b == Blocker{} }

// describe returns what strangers may know about the blocker, and whether it holds or waits.
func (b Blocker) describe() string {
	if b.IsZero() {
		return "held by another owner"
	}
	s, verb, what := "held by ", "has", b.Mode.String()
	if b.Waiting {
		s, verb = "in the way: ", "waits for"
	}
	if b.Gate {
		what = "the gate"
	}
	if b.Note != "" {
		s += strconv.Quote(b.Note)
	} else {
		s += "owner " + b.Owner.Short()
	}
	if b.Owner.Detached() {
		s += " (detached)"
	}
	s += ", which " + verb + " " + what
	if !b.Since.IsZero() {
		s += " since " + b.Since.UTC().Format(time.RFC3339)
	}
	if !b.Until.IsZero() {
		s += " until " + b.Until.UTC().Format(time.RFC3339)
	}
	return s
}

// ConflictError says what a request collided with. It matches [ErrConflict].
type ConflictError struct {
	// Tree, Path and Mode are the claim that was not granted. If Gate is set, the request was for
	// the tree's gate.
	Tree Tree
	Path Path
	Mode Mode
	Gate bool
	// Blocker is one of those in the way. It is zero if the store had no time to find one.
	Blocker Blocker
	// Waited is how long the request waited.
	Waited time.Duration
	// Err is a further error that this one matches: the context's, if its deadline ended the wait,
	// or the store's own.
	Err error
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrConflict, target(e.Tree, e.Path, e.Mode, e.Gate), e.Blocker.describe())
}

// Unwrap returns [ErrConflict] and, if there is one, Err.
func (e *ConflictError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrConflict}
	}
	return []error{ErrConflict, e.Err}
}

// DeadlockError says which claim would have closed a cycle of owners that wait for each other. It
// matches [ErrDeadlock].
type DeadlockError struct {
	// Tree, Path and Mode are the claim. If Gate is set, the request was for the tree's gate.
	Tree Tree
	Path Path
	Mode Mode
	Gate bool
	// Blocker is the holder that waits for the owner that asked.
	Blocker Blocker
}

// Error implements error.
func (e *DeadlockError) Error() string {
	return fmt.Sprintf("%v: %s: %s, and that owner waits for this one", ErrDeadlock, target(e.Tree, e.Path, e.Mode, e.Gate), e.Blocker.describe())
}

// Unwrap returns [ErrDeadlock].
func (e *DeadlockError) Unwrap() error { return ErrDeadlock }

// target names what a request was for.
func target(tree Tree, path Path, mode Mode, gate bool) string {
	if gate {
		return "the gate of " + tree.String()
	}
	return fmt.Sprintf("%s %s in %s", mode, shown.Text(path.String()), tree)
}

// Failure says in a word why something failed, so that a program can answer a client without
// knowing every package's errors. The middleware derives HTTP answers from it. The errors of this
// module, and of packages that work with it, state a Failure: see [FailureOf].
type Failure string

// The failures. Each is the last part of a problem type of the middleware's answers.
const (
	// FailureInvalid: the request makes no sense, whenever it is sent.
	FailureInvalid Failure = "invalid-request"
	// FailureNotFound: there is no such node.
	FailureNotFound Failure = "not-found"
	// FailureNameTaken: a sibling has the name.
	FailureNameTaken Failure = "name-taken"
	// FailurePathChanged: a node moved during the work on it.
	FailurePathChanged Failure = "path-changed"
	// FailureStale: the request is based on an outdated state of a row.
	FailureStale Failure = "stale"
	// FailureReference: a foreign key refuses the write: other rows refer to the row, or a row that
	// it refers to does not exist.
	FailureReference Failure = "reference"
	// FailureDuplicate: a unique index refuses the write, because another row has the value. If the
	// value is a sibling's name, the failure is FailureNameTaken.
	FailureDuplicate Failure = "duplicate"
	// FailureWouldCycle: a node would end up in its own subtree.
	FailureWouldCycle Failure = "would-cycle"
	// FailureLocked: others were in the way. The same request may succeed later.
	FailureLocked Failure = "locked"
	// FailureLockLost: the hold that the request's [Token] names has ended.
	FailureLockLost Failure = "lock-lost"
	// FailureLockStore: the lock store cannot serve, or has lost the lock.
	FailureLockStore Failure = "lock-store-unavailable"
	// FailureDatabase: the database cannot serve the request, or cannot keep the tree right.
	// Nothing was written.
	FailureDatabase Failure = "database-unavailable"
	// FailureOutcomeUnknown: it is unknown whether anything was written.
	FailureOutcomeUnknown Failure = "outcome-unknown"
)

// New returns an error that states the failure, for use as a sentinel.
func (f Failure) New(text string) error { return &failing{f, text} }

// failing is a sentinel that states a failure.
type failing struct {
	failure Failure
	text    string
}

// Error implements error.
func (e *failing) Error() string { return e.text }

// Failure returns what [FailureOf] returns.
func (e *failing) Failure() Failure { return e.failure }

// FailureOf returns the failure that an error states, "" if it states none. An error states one
// with a method that returns anything but "":
//
//	Failure() pathlock.Failure
//
// Otherwise the first wrapped error that states one counts, in the order of [errors.As].
func FailureOf(err error) Failure {
	if err == nil {
		return ""
	}
	if e, ok := err.(interface{ Failure() Failure }); ok {
		if f := e.Failure(); f != "" {
			return f
		}
	}
	switch e := err.(type) { //nolint:errorlint // This walks the tree itself.
	case interface{ Unwrap() error }:
		return FailureOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, wrapped := range e.Unwrap() {
			if f := FailureOf(wrapped); f != "" {
				return f
			}
		}
	}
	return ""
}
