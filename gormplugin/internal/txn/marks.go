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
	calls := len(t.after.calls)
	t.mu.Unlock()
	if calls == 0 {
		return nil
	}
	grammar := t.owner.Dialect.Grammar
	if steps, _ := grammar.Savepoints(sql); len(steps) > 0 && steps[0].Verb == rawsql.ReleaseSavepoint {
		t.readMarksAbove(ctx, steps[0].Name)
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
	mark := savepoint{mark: name, calls: calls}
	if t.owner.Dialect.SoleWriter {
		// All savepoints that SQLite sets are in the text. Elsewhere, the statement may set others,
		// and the mark stands for them, too.
		mark.name = grammar.SavepointName(name, false)
	}
	t.after.savepoints = append(t.after.savepoints, mark)
	t.mu.Unlock()
	return nil
}

// readMarksAbove asks for the marks that the release of a savepoint takes along, where it is
// certain which one that is.
func (t *Transaction) readMarksAbove(ctx context.Context, name rawsql.SavepointName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, oldest := t.after.meant(name)
	if oldest < 0 {
		return
	}
	for _, s := range t.after.savepoints[oldest+1:] {
		if same, _ := s.name.Same(name); same && s.mark == "" {
			return
		}
	}
	t.readMarks(ctx, oldest)
}

// readMarks asks for all marks that were set after a savepoint; -1 is before all of them. The
// caller holds t.mu. Where a mark is missing, the transaction went back to a savepoint from before
// the mark: what was added after the newest such savepoint is undone, and the rest in doubt.
func (t *Transaction) readMarks(ctx context.Context, after int) {
	a := &t.after
	for i := len(a.savepoints) - 1; i > after; i-- {
		s := a.savepoints[i]
		if s.mark == "" {
			continue
		}
		// A mark is released with all savepoints that were set after it, the newest mark first.
		_, err := t.Tx.ExecContext(context.WithoutCancel(ctx), "RELEASE SAVEPOINT "+s.mark)
		a.savepoints = a.savepoints[:i]
		if err == nil || !t.owner.Dialect.SoleWriter && dialect.MySQLNumber(err) != errNoSavepoint {
			continue
		}
		// The statement may have set savepoints after it went back.
		a.savepoints = append(a.savepoints, savepoint{calls: s.calls, doubtful: true})
		undone := 0
		for _, older := range a.savepoints[:i] {
			undone = max(undone, older.calls)
		}
		for j := range s.calls {
			if s.doubtful || j < undone {
				a.calls[j].doubtful = true
			} else {
				a.calls[j].undone = true
			}
		}
	}
}
