package lockspec

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// The reasons for which a spec cannot be bound to a request, besides those of the resolver.
var (
	// ErrInvalid: the request lacks a value, or has one that makes no sense. The error is an
	// [*InvalidError].
	ErrInvalid = pathlock.FailureInvalid.New("lockspec: invalid request")
	// ErrWouldCycle: a move into the node's own subtree. The message names both paths.
	ErrWouldCycle = pathlock.FailureWouldCycle.New("lockspec: move into the node's own subtree")
	// ErrNull is what a [Get] returns for a null.
	ErrNull = errors.New("lockspec: null")
	// ErrSpec: the program's spec makes no sense. No request is at fault.
	ErrSpec = errors.New("lockspec: invalid spec")
)

// InvalidError says what is wrong with a request. It matches [ErrInvalid].
type InvalidError struct {
	// Field is the name of the value's [Source]. It is "" if the request as a whole is wrong, such
	// as malformed JSON.
	Field string
	// Reason says what is wrong, for the sender of the request.
	Reason string
	// Err is a further error that this one matches, such as [pathlock.ErrInvalidID], or nil.
	Err error
}

// Error implements error.
func (e *InvalidError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%v: %s", ErrInvalid, e.Reason)
	}
	return fmt.Sprintf("%v: %s: %s", ErrInvalid, e.Field, e.Reason)
}

// Unwrap returns [ErrInvalid] and, if there is one, Err.
func (e *InvalidError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Err}
}

// nameReason returns the part of a [pathlock.Path.Child] error that helps the sender of the name,
// who does not know of the path.
func nameReason(err error) string {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		if errs := several.Unwrap(); len(errs) > 1 {
			return errs[len(errs)-1].Error()
		}
	}
	return err.Error()
}
