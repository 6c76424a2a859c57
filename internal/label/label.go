// Package label names operations and outcomes in metrics, by few words that no client can make up.
// The modules promobserver and otelobserver share it.
package label

import (
	"context"
	"errors"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// Grant returns the outcome of an acquisition that was granted by a store, or without one.
func Grant(e pathlock.Event) string {
	if e.Degraded {
		return "degraded"
	}
	return "granted"
}

// Refusal returns the outcome of an acquisition that was refused.
func Refusal(err error) string {
	switch {
	case errors.Is(err, pathlock.ErrConflict):
		return "conflict"
	case errors.Is(err, pathlock.ErrDeadlock):
		return "deadlock"
	case errors.Is(err, pathlock.ErrLost):
		return "lost"
	case errors.Is(err, pathlock.ErrUnavailable):
		return "unavailable"
	case isInterruption(err):
		return "cancelled"
	default:
		return "error"
	}
}

// Step returns the outcome of a step: "ok", "lost", the failure that its error states, "cancelled"
// or "error". A lost lock is "lost": its error states [pathlock.FailureLockStore], but the lock
// store may be healthy.
func Step(err error) string {
	if err == nil {
		return "ok"
	}
	failure := pathlock.FailureOf(err)
	if failure == pathlock.FailureLockStore && errors.Is(err, pathlock.ErrLost) {
		return "lost"
	}
	if isKnown(failure) {
		return string(failure)
	}
	if isInterruption(err) {
		return "cancelled"
	}
	return "error"
}

// Problem returns the label of a problem by the end of its type: that of a failure, "timeout" or
// "internal" as package middleware answers, and "other" for all else.
func Problem(f pathlock.Failure) string {
	if isKnown(f) || f == "timeout" || f == "internal" {
		return string(f)
	}
	return "other"
}

// isKnown reports whether a failure is one of package pathlock's.
func isKnown(f pathlock.Failure) bool {
	switch f {
	case pathlock.FailureInvalid, pathlock.FailureNotFound, pathlock.FailureNameTaken, pathlock.FailurePathChanged,
		pathlock.FailureStale, pathlock.FailureReference, pathlock.FailureDuplicate, pathlock.FailureWouldCycle, pathlock.FailureLocked,
		pathlock.FailureLockLost, pathlock.FailureLockStore, pathlock.FailureDatabase, pathlock.FailureOutcomeUnknown:
		return true
	default:
		return false
	}
}

// isInterruption reports whether an error is that of a context that has ended.
func isInterruption(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// The labels of operations that have none of their own.
const (
	// NoOperation is for work whose origin names none.
	NoOperation = "none"
	// OtherOperation is for operations for which there was no room.
	OtherOperation = "other"
)

// The operations of elections, as package election names them.
const (
	campaignOperation = "campaign"
	observeOperation  = "observe"
)

// MaxOperations is how many distinct operations are labels in a process.
const MaxOperations = 24

// Operations are those that are labels. There is room for a fixed number, besides those of
// elections: alerts leave elections out, and would mistake them for requests that are held up if
// their label were "other".
type Operations struct {
	mu    sync.Mutex
	known map[string]bool
	room  int
}

// NewOperations returns operations with room for at most n.
func NewOperations(n int) *Operations {
	return &Operations{known: make(map[string]bool), room: max(n, 0)}
}

// Of returns the label of an operation.
func (o *Operations) Of(operation string) string {
	switch operation {
	case "":
		return NoOperation
	case campaignOperation, observeOperation:
		return operation
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known[operation] && len(o.known) >= o.room {
		return OtherOperation
	}
	o.known[operation] = true
	return operation
}
