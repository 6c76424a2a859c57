package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"gorm.io/gorm"
	"pgregory.net/rapid"
)

// errBack has a transaction, or a part of it, taken back.
var errBack = errors.New("taken back")

// transaction is one that the machine runs.
type transaction struct {
	*machine
	world *world
	// claims are what its statements have needed so far, and certain is set while none has failed.
	claims  []string
	certain bool
	// ends is which functions it has, in their order, and whether what they belong to stays. told
	// is what they were told, before how often one was called before the commit, and wrote whether
	// a statement has succeeded.
	ends   []bool
	told   []string
	before int
	wrote  bool
}

// transact runs a few statements in a transaction: each as it is or behind a savepoint, and each
// savepoint, and the whole, to stay or to be taken back.
func (m *machine) transact(w *world) {
	t := &transaction{machine: m, world: w}
	db := m.session(w)
	t.certain = !m.knows
	db = db.WithContext(gormplugin.WithBeforeCommit(db.Statement.Context, func(tx *gorm.DB) error {
		t.before++
		m.compare(tx)
		return nil
	}))
	before := m.snapshot()
	m.open = true
	err := t.run(db)
	m.open = false
	m.Logf("end: %v", err)
	if err != nil && !errors.Is(err, errBack) {
		m.Fatalf("the transaction: %v", err)
	}
	if err != nil {
		m.restore(before)
	}
	m.settled(w.trace.String())
	t.ended(err == nil)
}

// run begins and ends it in one of the ways that there are.
func (t *transaction) run(db *gorm.DB) error {
	switch rapid.IntRange(0, 2).Draw(t.T, "by") {
	case 0:
		t.Logf("Transaction")
		return db.Transaction(t.statements)
	case 1:
		t.Logf("the plugin's Transaction")
		return gormplugin.Transaction(db.Statement.Context, db, t.statements)
	default:
		t.Logf("Begin")
		tx := db.Begin()
		defer tx.Rollback()
		if err := errors.Join(tx.Error, t.statements(tx)); err != nil {
			return errors.Join(err, tx.Rollback().Error)
		}
		return tx.Commit().Error
	}
}

// statements are what is done in it.
func (t *transaction) statements(tx *gorm.DB) error {
	for range rapid.IntRange(1, 4).Draw(t.T, "statements") {
		if t.statement(tx) != nil {
			t.certain = false
		}
		t.held(t.world, t.claims, t.certain)
	}
	if t.rarely(4, "back") {
		return errBack
	}
	return nil
}

// statement runs one. On PostgreSQL, which runs nothing more in a transaction after an error, a
// statement that fails is behind a savepoint.
func (t *transaction) statement(tx *gorm.DB) (err error) {
	w, s := t.world, t.draw()
	before := t.snapshot()
	nested := rapid.Bool().Draw(t.T, "nested") || len(s.reasons) > 0 && w.db.Name() == "postgres"
	back := nested && t.rarely(4, "nested back")
	from, first := len(w.trace.ran()), len(t.ends)
	t.Logf("- %s, behind a savepoint: %t, taken back: %t", s.what, nested, back)
	do := func(tx *gorm.DB) error {
		t.atEnd(tx)
		err = s.run(tx)
		t.judge(tx, s, err)
		if err == nil && back {
			return errBack
		}
		return err
	}
	if !nested {
		_ = do(tx)
	} else {
		end := tx.Transaction(do)
		if !errors.Is(end, err) && !errors.Is(end, errBack) {
			t.Fatalf("%s: the savepoint: %v", s.what, end)
		}
		if back {
			t.restore(before)
		}
		for i := first; i < len(t.ends) && end != nil; i++ {
			t.ends[i] = false
		}
	}
	t.wrote = t.wrote || err == nil
	t.asserted(w, s, from)
	if err == nil {
		for tree, paths := range s.claims {
			for _, p := range paths {
				t.claims = append(t.claims, fmt.Sprintf("%d%s", tree, foldPath(p)))
			}
		}
	}
	t.compare(tx)
	return err
}

// atEnd registers functions, which are called once nothing is held or open.
func (t *transaction) atEnd(tx *gorm.DB) {
	number := len(t.ends)
	t.ends = append(t.ends, true)
	err := gormplugin.AfterCommit(tx, func(context.Context) {
		t.settled(t.world.trace.String())
		t.told = append(t.told, fmt.Sprintf("%d", number))
	})
	err = errors.Join(err, gormplugin.AfterEnd(tx, func(_ context.Context, outcome gormplugin.Outcome) {
		t.told = append(t.told, fmt.Sprintf("%d %s", number, outcomeNames[outcome]))
	}))
	testerr.Must(t, err)
}

// ended checks what its functions were told, in which order, and what was called before the commit.
func (t *transaction) ended(committed bool) {
	var want []string
	for number, stays := range t.ends {
		if stays && committed {
			want = append(want, fmt.Sprintf("%d", number), fmt.Sprintf("%d committed", number))
		} else {
			want = append(want, fmt.Sprintf("%d rolled back", number))
		}
	}
	if !slices.Equal(t.told, want) {
		t.Fatalf("told %q, want %q", t.told, want)
	}
	if t.before > 1 || t.before == 1 && !committed || t.before == 0 && committed && t.wrote {
		t.Fatalf("%d calls before the end, committed: %t", t.before, committed)
	}
}
