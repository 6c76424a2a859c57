package txn

import (
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// savepoint is where a transaction can go back to.
type savepoint struct {
	name rawsql.SavepointName
	// mark is the name of one that the plugin has set, "" of any other: see
	// [Transaction.watchBack].
	mark string
	// calls is how many calls there were.
	calls int
	// doubtful is set where it may be gone.
	doubtful bool
}

// ran notes what a statement did with savepoints. lazy is set where an error of it may not have
// shown yet.
func (t *Transaction) ran(sql string, err error, lazy bool) {
	steps, others := t.owner.Dialect.Grammar.Savepoints(sql)
	if len(steps) == 0 {
		return
	}
	several := len(steps) > 1 || others
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case several && (err != nil || lazy):
		t.after.lose()
		if t.owner.Dialect.Aborts && slices.ContainsFunc(steps, isBack) {
			t.after.doubt() // there are no marks
		}
	case err == nil:
		for _, step := range steps {
			t.after.take(step)
		}
	}
}

// take takes a step. Databases agree that the newest savepoint of a name counts, and that to go
// back to one, or to release it, ends all that were set after it. Where it is not certain which one
// a name means, what was added before the newest of them and after the oldest is in doubt.
func (a *afterwards) take(step rawsql.SavepointStep) {
	if step.Verb == rawsql.SetSavepoint {
		a.savepoints = append(a.savepoints, savepoint{name: step.Name, calls: len(a.calls)})
		return
	}
	newest, oldest := a.meant(step.Name)
	certain := newest == oldest
	if step.Verb == rawsql.ReleaseSavepoint && certain {
		a.savepoints = a.savepoints[:max(oldest, 0)]
		return
	}
	a.savepoints = a.savepoints[:newest+1]
	for i := oldest + 1; i <= newest; i++ {
		a.savepoints[i].doubtful = true
	}
	if step.Verb == rawsql.ReleaseSavepoint {
		return
	}
	for i := oldest + 1; i <= newest; i++ {
		// Its absence will say nothing. What went back unseen to a savepoint further up is not
		// noticed then, if it has set this one again.
		a.savepoints[i].mark = ""
	}
	for i := a.callsAt(oldest); i < len(a.calls); i++ {
		if i < a.callsAt(newest) {
			a.calls[i].doubtful = true
		} else {
			a.calls[i].undone = true
		}
	}
}

// meant returns the newest and the oldest savepoint that a name may mean; -1 is one that is not
// known.
func (a *afterwards) meant(name rawsql.SavepointName) (newest, oldest int) {
	newest = -1
	for i, s := range slices.Backward(a.savepoints) {
		same, certain := s.name.Same(name)
		if same {
			newest = max(newest, i)
		}
		if same && certain && !s.doubtful {
			return newest, i
		}
	}
	return newest, -1
}

// callsAt returns how many calls there were when a savepoint was set. One that is not known may be
// as old as the transaction.
func (a *afterwards) callsAt(i int) int {
	if i < 0 {
		return 0
	}
	return a.savepoints[i].calls
}

// lose notes that nobody knows which of several steps were taken. A mark tells what they have
// undone.
func (a *afterwards) lose() {
	for i := range a.savepoints {
		a.savepoints[i].doubtful = true
	}
	a.savepoints = append(a.savepoints, savepoint{calls: len(a.calls)})
}

// doubt notes that nobody knows what was undone.
func (a *afterwards) doubt() {
	for i := range a.calls {
		a.calls[i].doubtful = true
	}
}

// isBack reports whether a step goes back.
func isBack(s rawsql.SavepointStep) bool { return s.Verb == rawsql.BackToSavepoint }
