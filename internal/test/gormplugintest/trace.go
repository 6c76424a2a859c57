package gormplugintest

import (
	"context"
	"strings"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// trace records, in the order in which they happened, when transactions began and had really ended,
// and when locks were granted and released. It observes the end of a transaction at the driver, and
// the end of a lock at the store, below all code that could report it too early.
type trace struct {
	mu     sync.Mutex
	events []string
	// statements are what the driver was given to run, with the ends of transactions among them.
	statements []string
	// onCall, if set, is asked before every call of the driver, and after it.
	onCall func(call) error
}

// call is one call of the driver's.
type call struct {
	// kind is begin, prepare, exec, query, commit or rollback.
	kind string
	// after is set when the driver has done it.
	after bool
	// drop closes the connection, as if it were lost.
	drop func()
	// abort, of a commit, has the database roll back instead.
	abort func()
}

// do passes a call on to the driver, unless onCall has it fail before; the caller is told what
// onCall says after it.
func (tr *trace) do(c call, driver func() error) error {
	tr.mu.Lock()
	onCall := tr.onCall
	tr.mu.Unlock()
	if onCall == nil {
		return driver()
	}
	if err := onCall(c); err != nil {
		return err
	}
	if err := driver(); err != nil {
		return err
	}
	c.after = true
	return onCall(c)
}

// intercept sets what is asked about every call from now on; nil ends it.
func (tr *trace) intercept(onCall func(call) error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.onCall = onCall
}

func (tr *trace) note(event string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, event)
	tr.statements = append(tr.statements, event)
}

// noteStatement records what the driver is given to run.
func (tr *trace) noteStatement(query string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.statements = append(tr.statements, query)
}

func (tr *trace) reset() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events, tr.statements = nil, nil
}

// String returns the events since the last reset.
func (tr *trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.events, " ")
}

// ran returns the statements, and what happened between them, since the last reset.
func (tr *trace) ran() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return append([]string(nil), tr.statements...)
}

// store returns the part that sees the locks.
func (tr *trace) store(inner pathlock.Store) pathlock.Store { return tracedStore{inner, tr} }

type tracedStore struct {
	pathlock.Store
	tr *trace
}

// Acquire implements [pathlock.Store].
func (s tracedStore) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	grant, err := s.Store.Acquire(ctx, a)
	if err == nil {
		s.tr.note("grant")
	}
	return grant, err
}

// Release implements [pathlock.Store].
func (s tracedStore) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	s.tr.note("release")
	return s.Store.Release(ctx, tree, owner, id)
}
