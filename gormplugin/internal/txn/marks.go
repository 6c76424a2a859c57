package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// A statement may go back to a savepoint where nobody can read it: in a routine, in a text that it
// runs, or in a comment that is executed. So the plugin sets a savepoint of its own, a mark, before
// such a statement. Where the transaction has gone back, the server has forgotten the mark.

// markName is what the names of marks begin with.
const markName = "pathlock_mark_"

// errNoSavepoint is MySQL's and MariaDB's ER_SP_DOES_NOT_EXIST.
const errNoSavepoint = 1305

// errPreparedSavepoint is the error of the attempt to prepare what goes back to a savepoint.
var errPreparedSavepoint = errors.New("gormplugin: a statement about savepoints cannot be prepared in a transaction: run it through GORM's Exec or Raw")

// watchBack sets a mark before a statement that may go back unseen, where that matters.
func (t *Transaction) watchBack(ctx context.Context, sql string) error {
	t.mu.Lock()
	calls, marked := len(t.after.calls), t.after.marked()
	t.mu.Unlock()
	if calls == 0 {
		return nil
	}
	grammar := t.owner.Dialect.Grammar
	if marked {
		// What is released now takes marks along.
		if steps, _ := grammar.Savepoints(sql); len(steps) > 0 && steps[0].Verb == rawsql.ReleaseSavepoint {
			t.readMarks(ctx, steps[0].Name)
		}
	}
	if !grammar.MayGoBackUnseen(sql) {
		return nil
	}
	t.mu.Lock()
	t.after.marks++
	name := fmt.Sprint(markName, t.after.marks)
	t.mu.Unlock()
	if _, err := t.Tx.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	t.mu.Lock()
	t.after.savepoints = append(t.after.savepoints, savepoint{name: name, calls: calls, mark: true})
	t.mu.Unlock()
	return nil
}

// marked reports whether there is a mark.
func (a *afterwards) marked() bool {
	for _, s := range a.savepoints {
		if s.mark {
			return true
		}
	}
	return false
}

// readMarks asks for all marks that were set after the savepoint of a name, or all if there is no
// such savepoint. What was added before a mark that is missing may be undone, and counts as undone.
func (t *Transaction) readMarks(ctx context.Context, after string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &t.after
	for i := len(a.savepoints) - 1; i >= 0; i-- {
		s := a.savepoints[i]
		if !s.mark {
			if s.name == after && after != "" {
				return
			}
			continue
		}
		// A mark is released with all savepoints that were set after it, the newest mark first.
		_, err := t.Tx.ExecContext(context.WithoutCancel(ctx), "RELEASE SAVEPOINT "+s.name)
		if err != nil && (t.owner.Dialect.SoleWriter || dialect.MySQLNumber(err) == errNoSavepoint) {
			for i := range s.calls {
				a.calls[i].undone = true
			}
		}
		a.savepoints = a.savepoints[:i]
	}
}
