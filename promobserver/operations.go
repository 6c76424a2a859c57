package promobserver

import "sync"

// The labels of operations that have none of their own.
const (
	// noOperation is for work whose origin names none.
	noOperation = "none"
	// otherOperation is for those that there was no room for.
	otherOperation = "other"
)

// operations are those that are labels. There is room for a fixed number.
type operations struct {
	mu    sync.RWMutex
	known map[string]bool
	room  int
}

// label returns the label of an operation.
func (o *operations) label(operation string) string {
	if operation == "" {
		return noOperation
	}
	o.mu.RLock()
	known, full := o.known[operation], len(o.known) >= o.room
	o.mu.RUnlock()
	switch {
	case known:
		return operation
	case full:
		return otherOperation
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known[operation] && len(o.known) >= o.room {
		return otherOperation
	}
	o.known[operation] = true
	return operation
}
