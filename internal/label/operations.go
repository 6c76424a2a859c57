package label

import "sync"

// The labels of operations that have none of their own.
const (
	// NoOperation is for work whose origin names none.
	NoOperation = "none"
	// OtherOperation is for those that there was no room for.
	OtherOperation = "other"
)

// The operations of elections, as package election names them.
const (
	campaignOperation = "campaign"
	observeOperation  = "observe"
)

// MaxOperations is how many distinct operations are labels in a process.
const MaxOperations = 24

// Operations are those that are labels. There is room for a fixed number, beside those of
// elections: alerts leave these out, and would take them for requests that are held up if they were
// "other".
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
