package gormplugintest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// workload is one of several workers that change the same tree at once: a random mix of all that
// can be done to it, on random rows.
type workload struct {
	*world
	of     *table
	tree   any
	random *rand.Rand
	// isolations are what transactions ask for, one of them at random; none is the session's own.
	isolations []sql.IsolationLevel
	// dirtyReads is set where one may come upon a copy that is under way, whose rows have no names
	// and paths of their own yet.
	dirtyReads bool
	// did counts what became of it.
	did outcome
}

// most is how many rows a tree has before more are deleted than made.
const most = 60

// step does one random thing: a single statement, or a transaction of one to three, with a
// savepoint at times. At times the transaction goes on after an error, as a careless caller does.
func (l *workload) step(ctx context.Context) {
	db := l.db.WithContext(ctx)
	if l.random.IntN(3) == 0 {
		l.count(l.anything(db))
		return
	}
	var opts []*sql.TxOptions
	if n := len(l.isolations); n > 0 {
		opts = append(opts, &sql.TxOptions{Isolation: l.isolations[l.random.IntN(n)]})
	}
	l.count(gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
		for range 1 + l.random.IntN(3) {
			do := l.anything
			if l.random.IntN(4) == 0 {
				do = func(tx *gorm.DB) error { return tx.Transaction(l.anything) }
			}
			if err := do(tx); err != nil && (errors.Is(err, gormplugin.ErrRetry) || l.random.IntN(2) == 0) {
				return err
			}
		}
		return nil
	}, opts...))
}

// readError is the error of a read of the workload's own. The plugin says of no read that it has to
// be done again.
type readError struct{ error }

// Unwrap returns the error as the driver gave it.
func (e readError) Unwrap() error { return e.error }

// count enters an outcome. Whoever's locks the store plays games with may be told so.
func (l *workload) count(err error) {
	dialect, unknown := dialect.Of(dialect.Name(l.db.Name()))
	if read, ok := errors.AsType[readError](err); ok && unknown == nil && dialect.Classify(read).IsRetryable() {
		l.did.retries++
		return
	}
	refusals := []error{
		pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, pathlock.ErrUnavailable, gormplugin.ErrPathTooLong, gormplugin.ErrUnsupported, gormplugin.ErrStale, gormplugin.ErrRootRow,
	}
	if l.dirtyReads {
		refusals = append(refusals, gormplugin.ErrDamagedRow)
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			l.did.refused++
			return
		}
	}
	l.did.add(l.T, err)
}

// anything does a random operation.
func (l *workload) anything(tx *gorm.DB) error {
	rows, err := l.of.read(tx.Session(&gorm.Session{NewDB: true}), l.tree)
	if err != nil {
		return readError{err}
	}
	slices.SortFunc(rows, func(a, b actual) int { return strings.Compare(a.key, b.key) })
	live := slices.DeleteFunc(slices.Clone(rows), func(r actual) bool { return !r.live })
	named := slices.DeleteFunc(slices.Clone(live), func(r actual) bool { return r.name == "" })
	switch do := l.random.IntN(16); {
	case len(named) < 5 || do < 3 && len(live) < most:
		return l.insert(tx, live)
	case do < 5 || len(live) >= most:
		return l.remove(tx, named, do == 3)
	case do < 10:
		return l.update(tx, live, named)
	case do == 10:
		return l.save(tx, live, named)
	case do == 11:
		return l.restore(tx, slices.DeleteFunc(rows, func(r actual) bool { return r.live }))
	case do == 12:
		return l.copy(tx, live, named)
	case do == 13:
		return l.arrange(tx, live, named)
	default:
		return l.leaves(tx, live)
	}
}

// any is one of the rows.
func (l *workload) any(rows []actual) actual { return rows[l.random.IntN(len(rows))] }

// below is the key of one of the rows, at times none.
func (l *workload) below(rows []actual) any {
	if len(rows) == 0 || l.random.IntN(8) == 0 {
		return nil
	}
	return l.of.keyOf(l.any(rows).key)
}

// name is one of few, so that they meet.
func (l *workload) name() string { return fmt.Sprintf("n%d", l.random.IntN(12)) }

// at is a statement on a row.
func (l *workload) at(tx *gorm.DB, r actual) *gorm.DB {
	return tx.Model(l.of.new()).Where("id = ?", l.of.keyOf(r.key))
}

// insert makes up to three rows below several parents, or a root row.
func (l *workload) insert(tx *gorm.DB, live []actual) error {
	var rows []any
	for range 1 + l.random.IntN(3) {
		values := map[string]any{l.of.label: l.name(), l.of.parent: l.below(live)}
		if values[l.of.parent] == nil {
			l.of.putIn(values, l.tree)
			if l.random.IntN(2) == 0 {
				values[l.of.label] = ""
			}
		}
		if l.of.path != "" && values[l.of.label] != "" && l.random.IntN(3) == 0 {
			delete(values, l.of.parent)
			l.of.putIn(values, l.tree)
			values[l.of.path] = l.text(live, fmt.Sprint(values[l.of.label]))
		}
		rows = append(rows, l.of.row(values))
	}
	return tx.Create(l.of.slice(rows)).Error
}

// text is how the path of a row with a name is spelled below one of the rows, or at the top.
func (l *workload) text(rows []actual, name string) string {
	above, byKey := "", make(map[string]actual)
	for _, r := range rows {
		if byKey[r.key] = r; l.random.IntN(len(rows)) == 0 {
			above = r.key
		}
	}
	path, _, _ := recomputed(byKey[above], byKey)
	return l.of.pathForm.of(path + "/" + name)
}

// remove deletes a row, softly or for good, and what is below it.
func (l *workload) remove(tx *gorm.DB, named []actual, hard bool) error {
	if hard {
		tx = tx.Unscoped()
	}
	return tx.Where("id = ?", l.of.keyOf(l.any(named).key)).Delete(l.of.new()).Error
}

// update gives a row, or all rows of one name, another name, parent or note.
func (l *workload) update(tx *gorm.DB, live, named []actual) error {
	r, values := l.any(named), make(map[string]any)
	what := 1 + l.random.IntN(7)
	if what&1 != 0 {
		values[l.of.label] = l.name()
	}
	if what&2 != 0 {
		values[l.of.parent] = l.below(live)
	}
	if what&2 != 0 && l.of.path != "" && l.of.pathForm.ofParent && l.random.IntN(2) == 0 {
		delete(values, l.of.parent)
		values[l.of.path] = l.text(live, "x")
	}
	if what&4 != 0 && l.of.note != "" || len(values) == 0 {
		values[l.of.label] = l.name()
	}
	if what == 1 && l.random.IntN(3) == 0 {
		where := map[string]any{l.of.label: r.name}
		l.of.putIn(where, l.tree)
		return tx.Model(l.of.new()).Where(where).Updates(values).Error
	}
	return l.at(tx, r).Updates(values).Error
}

// save writes a whole row back that was read before, and changed.
func (l *workload) save(tx *gorm.DB, live, named []actual) error {
	row := l.of.new()
	err := tx.Where("id = ?", l.of.keyOf(l.any(named).key)).Take(row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil // somebody has deleted it meanwhile
	}
	if err != nil {
		return readError{err}
	}
	if l.random.IntN(2) == 0 {
		l.of.set(row, l.of.label, l.name())
	} else {
		l.of.set(row, l.of.parent, l.below(live))
	}
	return tx.Save(row).Error
}

// restore takes the deletion mark off a row.
func (l *workload) restore(tx *gorm.DB, dead []actual) error {
	if len(dead) == 0 {
		return nil
	}
	return l.at(tx.Unscoped(), l.any(dead)).Update(l.of.mark, l.of.restored).Error
}

// copy copies a subtree that is not too large.
func (l *workload) copy(tx *gorm.DB, live, named []actual) error {
	below := l.below(live)
	if len(live) > most/2 || below == nil || !l.of.copies {
		return nil
	}
	options := []gormplugin.CopyOption{gormplugin.CopyAs(l.name())}
	if l.of.full {
		options = append(options, gormplugin.CopyLeaves(&Case{}, nil))
	}
	_, err := gormplugin.Copy(tx, l.of.new(), l.of.keyOf(l.any(named).key), gormplugin.Below(below), options...)
	return err
}

// arrange gives some rows each other's parents, or any.
func (l *workload) arrange(tx *gorm.DB, live, named []actual) error {
	var rows []any
	for _, i := range l.random.Perm(len(named))[:2+l.random.IntN(4)] {
		values := map[string]any{"id": l.of.keyOf(named[i].key), l.of.parent: l.below(live)}
		if other := l.any(named); l.random.IntN(2) == 0 && !l.of.isNone(other.parent) {
			values[l.of.parent] = l.of.keyOf(other.parent)
		}
		rows = append(rows, l.of.row(values))
	}
	return gormplugin.Arrange(tx, l.of.slice(rows))
}

// leaves makes a leaf, or moves or removes another one.
func (l *workload) leaves(tx *gorm.DB, live []actual) error {
	id, ok := l.of.keyOf(l.any(live).key).(int64)
	if !l.of.full || !ok {
		return nil
	}
	var cases []Case
	if err := tx.Where("suite_id = ?", id).Order("id").Find(&cases).Error; err != nil {
		return readError{err}
	}
	switch {
	case len(cases) == 0 || l.random.IntN(2) == 0:
		return tx.Create(&Case{SuiteID: id, Name: l.name()}).Error
	case l.random.IntN(2) == 0:
		return tx.Model(&cases[0]).Updates(map[string]any{"suite_id": l.of.keyOf(l.any(live).key), "name": l.name()}).Error
	default:
		return tx.Delete(&cases[0]).Error
	}
}
