package pathlock

// Failure says in a word why something failed, for whoever has to answer for it without knowing
// every package: the middleware makes HTTP answers of it. The errors of this module and of packages
// that work with it state theirs: see [FailureOf].
type Failure string

// What may have failed. Each is the end of the type of a problem that the middleware answers with.
const (
	// FailureInvalid: the request cannot be meant, whenever it is sent.
	FailureInvalid Failure = "invalid-request"
	// FailureNotFound: there is no such node.
	FailureNotFound Failure = "not-found"
	// FailureNameTaken: a sibling has the name.
	FailureNameTaken Failure = "name-taken"
	// FailurePathChanged: a node moved while it was being worked on.
	FailurePathChanged Failure = "path-changed"
	// FailureStale: what was sent rests on an older state of a row than there is.
	FailureStale Failure = "stale"
	// FailureWouldCycle: a node would come to lie in its own subtree.
	FailureWouldCycle Failure = "would-cycle"
	// FailureLocked: others were in the way; the same may well succeed later.
	FailureLocked Failure = "locked"
	// FailureLockLost: the hold that the request's [Token] names has ended.
	FailureLockLost Failure = "lock-lost"
	// FailureLockStore: the lock store cannot serve, or has lost the lock.
	FailureLockStore Failure = "lock-store-unavailable"
	// FailureDatabase: the database cannot serve, or not in the way that the tree needs. Nothing
	// was written.
	FailureDatabase Failure = "database-unavailable"
	// FailureOutcomeUnknown: whether anything was written is not known.
	FailureOutcomeUnknown Failure = "outcome-unknown"
)

// New returns an error that states the failure, to be used as a sentinel.
func (f Failure) New(text string) error { return &failing{f, text} }

// failing is a sentinel.
type failing struct {
	failure Failure
	text    string
}

// Error implements error.
func (e *failing) Error() string { return e.text }

// Failure says what [FailureOf] returns.
func (e *failing) Failure() Failure { return e.failure }

// FailureOf returns what an error states to have failed, "" where it states nothing: what its
// method
//
//	Failure() pathlock.Failure
//
// returns, or that of the first error that it wraps, in the order of [errors.As], and returns
// anything but "".
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

// FailureExplainer is a [Resolver] that knows what errors mean which state nothing themselves, such
// as those of the database that it reads.
type FailureExplainer interface {
	// FailureOf returns what [FailureOf] does, or what else the error means, "" if it does not
	// know.
	FailureOf(err error) Failure
}
