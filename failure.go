package pathlock

// Failure says in a word why something failed. It lets a program answer a client without knowing
// every package's errors: the middleware derives HTTP answers from it. The errors of this module
// and of packages that work with it state theirs: see [FailureOf].
type Failure string

// What may have failed. Each is the end of a problem type with which the middleware answers.
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
	// FailureWouldCycle: a node would end up in its own subtree.
	FailureWouldCycle Failure = "would-cycle"
	// FailureLocked: others were in the way. The same request may succeed later.
	FailureLocked Failure = "locked"
	// FailureLockLost: the hold that the request's [Token] names has ended.
	FailureLockLost Failure = "lock-lost"
	// FailureLockStore: the lock store cannot serve, or has lost the lock.
	FailureLockStore Failure = "lock-store-unavailable"
	// FailureDatabase: the database cannot serve, or not in the way the tree needs. Nothing was
	// written.
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

// FailureOf returns the failure that an error states, "" if it states none. An error states one by
// a method that returns anything but "":
//
//	Failure() pathlock.Failure
//
// Otherwise the first error that it wraps and that states one counts, in the order of [errors.As].
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
