package gormplugintest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"gorm.io/gorm"
	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// workload is one of several workers that change the same trees at once, by what the state machine
// draws for the rows that are there.
type workload struct {
	*world
	of     *table
	trees  []any
	random *rand.Rand
	// isolations are what transactions ask for, one of them at random; none is the session's own.
	isolations []sql.IsolationLevel
	// dirtyReads is set where one may come upon a copy that is under way, whose rows have no names
	// and paths of their own yet.
	dirtyReads bool
	// did counts what became of it.
	did outcome
}

// most is how many rows there are before more are deleted than made.
const most = 60

// step does one random thing: a single statement, or a transaction of one to three, with a
// savepoint at times. At times the transaction goes on after an error, as a careless caller does.
func (l *workload) step(ctx context.Context) {
	db := l.db.WithContext(ctx)
	if l.random.IntN(3) == 0 {
		l.count(l.anything(db, false))
		return
	}
	var opts []*sql.TxOptions
	if n := len(l.isolations); n > 0 {
		opts = append(opts, &sql.TxOptions{Isolation: l.isolations[l.random.IntN(n)]})
	}
	l.count(gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
		for range 1 + l.random.IntN(3) {
			do := func(tx *gorm.DB) error { return l.anything(tx, true) }
			if anything := do; l.random.IntN(4) == 0 {
				do = func(tx *gorm.DB) error { return tx.Transaction(anything) }
			}
			if err := do(tx); err != nil && (errors.Is(err, gormplugin.ErrRetry) || l.random.IntN(2) == 0) {
				return err
			}
		}
		return nil
	}, opts...))
}

// readError is the error of one of the workload's own reads. The plugin never asks to repeat a
// read.
type readError struct{ error }

// Unwrap returns the error as the driver gave it.
func (e readError) Unwrap() error { return e.error }

// foreseen is an error that the statement had to have on the rows as they were before.
type foreseen struct{ error }

// Unwrap returns the error as it was.
func (e foreseen) Unwrap() error { return e.error }

// count enters an outcome. If the store interferes with somebody's locks, they may get an error.
func (l *workload) count(err error) {
	dialect, unknown := dialect.Of(dialect.Name(l.db.Name()))
	if read, ok := errors.AsType[readError](err); ok && (errors.Is(read, gorm.ErrRecordNotFound) || unknown == nil && dialect.Classify(read).IsRetryable()) {
		l.did.retries++
		return
	}
	if _, ok := errors.AsType[foreseen](err); ok {
		l.did.refused++
		return
	}
	refusals := []error{
		pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, pathlock.ErrUnavailable, gormplugin.ErrPathTooLong, gormplugin.ErrUnsupported, gormplugin.ErrStale, gormplugin.ErrRootRow,
		gorm.ErrDuplicatedKey,
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
	// A Save brings a deleted row back, at times as a root row or in place of one. So what others
	// write to it is refused: an empty name, or another one.
	if matches(err, []error{pathlock.ErrInvalidPath, gormplugin.ErrMisplaced}) && !errors.Is(err, gormplugin.ErrDamagedRow) {
		l.did.refused++
		return
	}
	l.did.add(l.T, err)
}

// anything runs what is drawn for the trees as they are a moment before.
func (l *workload) anything(tx *gorm.DB, within bool) error {
	m := &machine{table: l.of, worlds: []*world{l.world}, trees: l.trees, keys: make(map[int]any), open: within, stale: true, forest: l.of.forest()}
	if err := m.readAll(tx.Session(&gorm.Session{NewDB: true})); err != nil {
		return readError{err}
	}
	if live := m.live(); len(live) > 0 && l.random.IntN(4) == 0 {
		m.read(tx, live[l.random.IntN(len(live))])
	}
	s := rapid.Custom(func(t *rapid.T) statement {
		if m.T = t; len(m.live()) >= most {
			return m.remove()
		}
		return m.draw()
	}).Example(l.random.Int())
	err := s.run(tx)
	if err != nil && matches(err, slices.Concat(s.reasons, s.may, []error{errCount})) {
		return foreseen{err}
	}
	return err
}

// readAll makes the forest what the tables are.
func (m *machine) readAll(db *gorm.DB) error {
	numbers, found := map[string]int{"": 0}, make(map[int]actual)
	number := func(key string) int {
		if _, known := numbers[key]; !known {
			numbers[key] = m.id()
			m.keys[m.last] = m.table.keyOf(key)
		}
		return numbers[key]
	}
	var keys []any
	for tree, id := range m.trees {
		rows, err := m.table.read(db, id)
		if err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b actual) int { return strings.Compare(a.key, b.key) })
		for _, r := range rows {
			m.rows[number(r.key)] = node{tree: tree, name: r.name, dead: !r.live, note: r.note, version: r.version}
			found[number(r.key)], keys = r, append(keys, m.keys[number(r.key)])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if n := m.rows[id]; !m.table.isNone(found[id].parent) {
			n.parent = number(found[id].parent)
			m.rows[id] = n
		}
	}
	if m.table.leaf == nil {
		return nil
	}
	var leaves []Case
	err := db.Where("suite_id IN ?", keys).Order("id").Find(&leaves).Error
	for _, c := range leaves {
		m.leaves[m.id()] = node{parent: number(fmt.Sprint(c.SuiteID)), name: c.Name, note: c.Body, version: int(c.Version)}
	}
	return err
}
