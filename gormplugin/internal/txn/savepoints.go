package txn

import (
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// savepoint is where a transaction can go back to.
type savepoint struct {
	name string
	// calls is how many calls there were.
	calls int
}

// ran notes what a statement that has succeeded did with a savepoint.
func (t *Transaction) ran(sql string) {
	if step, ok := rawsql.PlainSavepoint(sql); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.after.take(step)
	}
}

// take takes a step. Databases agree that the newest savepoint of a name counts, and that to go
// back to one, or to release it, ends all that were set after it. One that is not known was set
// where the plugin does not look, and may be as old as the transaction.
func (a *afterwards) take(step rawsql.SavepointStep) {
	if step.Verb == rawsql.SetSavepoint {
		a.savepoints = append(a.savepoints, savepoint{step.Name, len(a.calls)})
		return
	}
	newest, calls := -1, 0
	for i, s := range slices.Backward(a.savepoints) {
		if s.name == step.Name {
			newest, calls = i, s.calls
			break
		}
	}
	if step.Verb == rawsql.ReleaseSavepoint {
		a.savepoints = a.savepoints[:max(newest, 0)]
		return
	}
	a.savepoints = a.savepoints[:newest+1]
	for i := calls; i < len(a.calls); i++ {
		if newest < 0 {
			a.calls[i].doubtful = true
		} else {
			a.calls[i].undone = true
		}
	}
}
