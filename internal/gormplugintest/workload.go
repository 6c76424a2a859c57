package gormplugintest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// workload is one of several workers that change the same plan at once: a random mix of all that
// can be done to a tree, on random rows.
type workload struct {
	*world
	random *rand.Rand
	// isolations are what transactions ask for, one of them at random; none is the session's own.
	isolations []sql.IsolationLevel
	// did counts what became of it.
	did outcome
}

// operation is one statement on a plan's live rows, or a few that belong together. rows is never
// empty and begins with the root row.
type operation func(l *workload, tx *gorm.DB, rows []Suite) error

// operations are chosen at random, all equally often.
var operations = []struct {
	name string
	do   operation
}{
	{"insert", (*workload).insert},
	{"insert again", (*workload).insert},
	{"insert a batch", (*workload).insertBatch},
	{"rename", (*workload).rename},
	{"rename many", (*workload).renameMany},
	{"move", (*workload).move},
	{"move again", (*workload).move},
	{"move and rename", (*workload).moveAndRename},
	{"save", (*workload).save},
	{"delete", (*workload).remove},
	{"delete for good", (*workload).removeForGood},
	{"restore", (*workload).restore},
	{"copy", (*workload).copy},
	{"write leaves", (*workload).leaves},
	{"write notes", (*workload).notes},
}

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

// anything does a random operation.
func (l *workload) anything(tx *gorm.DB) error {
	var rows []Suite
	if err := tx.Where("plan_id = ?", l.root.PlanID).Order("id").Find(&rows).Error; err != nil {
		return err
	}
	// The root row was made first.
	if len(rows) == 0 || rows[0].ID != l.root.ID {
		return fmt.Errorf("the root row is gone: %w", pathlock.ErrNotFound)
	}
	const many = 60
	if len(rows) > many {
		return l.remove(tx, rows)
	}
	return operations[l.random.IntN(len(operations))].do(l, tx, rows)
}

// count enters an outcome. Whoever's locks the store plays games with may be told so, and Save may
// come upon a row that was deleted, or deleted and brought back, meanwhile.
func (l *workload) count(err error) {
	for _, refusal := range []error{pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, gormplugin.ErrPathTooLong, gormplugin.ErrUnsupported, gormplugin.ErrStale} {
		if errors.Is(err, refusal) {
			l.did.refused++
			return
		}
	}
	l.did.add(l.T, err)
}

// any returns one of the rows, and other one that is not the root row, nil if there is none.
func (l *workload) any(rows []Suite) *Suite { return &rows[l.random.IntN(len(rows))] }

func (l *workload) other(rows []Suite) *Suite {
	if len(rows) < 2 {
		return nil
	}
	return &rows[1+l.random.IntN(len(rows)-1)]
}

// name returns one of few names, so that they meet.
func (l *workload) name() string { return fmt.Sprintf("n%d", l.random.IntN(12)) }

func (l *workload) insert(tx *gorm.DB, rows []Suite) error {
	return tx.Create(&Suite{ParentID: &l.any(rows).ID, Name: l.name()}).Error
}

// insertBatch makes rows below several parents in one statement.
func (l *workload) insertBatch(tx *gorm.DB, rows []Suite) error {
	batch := make([]Suite, 2+l.random.IntN(2))
	for i := range batch {
		batch[i] = Suite{ParentID: &l.any(rows).ID, Name: fmt.Sprintf("%s-%d", l.name(), i)}
	}
	return tx.Create(&batch).Error
}

func (l *workload) rename(tx *gorm.DB, rows []Suite) error {
	if s := l.other(rows); s != nil {
		return tx.Model(&Suite{}).Where("id = ?", s.ID).Update("name", l.name()).Error
	}
	return nil
}

// renameMany renames whatever has a name, wherever it is.
func (l *workload) renameMany(tx *gorm.DB, rows []Suite) error {
	if s := l.other(rows); s != nil {
		return tx.Model(&Suite{}).Where("plan_id = ? AND name = ?", s.PlanID, s.Name).Updates(map[string]any{"name": l.name()}).Error
	}
	return nil
}

func (l *workload) move(tx *gorm.DB, rows []Suite) error {
	if s := l.other(rows); s != nil {
		return tx.Model(&Suite{ID: s.ID}).Update("parent_id", l.any(rows).ID).Error
	}
	return nil
}

func (l *workload) moveAndRename(tx *gorm.DB, rows []Suite) error {
	if s := l.other(rows); s != nil {
		return tx.Model(&Suite{ID: s.ID}).Updates(Suite{ParentID: &l.any(rows).ID, Name: l.name()}).Error
	}
	return nil
}

// save writes a whole row back that was read before, and changed.
func (l *workload) save(tx *gorm.DB, rows []Suite) error {
	s := l.other(rows)
	if s == nil {
		return nil
	}
	switch l.random.IntN(3) {
	case 0:
		s.Name = l.name()
	case 1:
		s.ParentID = &l.any(rows).ID
	default:
		s.Note = l.name()
	}
	return tx.Save(s).Error
}

func (l *workload) remove(tx *gorm.DB, rows []Suite) error {
	if s := l.other(rows); s != nil && len(rows) > 5 {
		return tx.Delete(&Suite{}, s.ID).Error
	}
	return l.insert(tx, rows)
}

func (l *workload) removeForGood(tx *gorm.DB, rows []Suite) error {
	if s := l.other(rows); s != nil && len(rows) > 5 {
		return tx.Unscoped().Delete(&Suite{ID: s.ID}).Error
	}
	return l.insert(tx, rows)
}

// restore takes the deletion mark off a row.
func (l *workload) restore(tx *gorm.DB, _ []Suite) error {
	var gone []int64
	err := tx.Unscoped().Model(&Suite{}).Where("plan_id = ? AND deleted IS NOT NULL", l.root.PlanID).Order("id").Pluck("id", &gone).Error
	if err != nil || len(gone) == 0 {
		return err
	}
	return tx.Unscoped().Model(&Suite{}).Where("id = ?", gone[l.random.IntN(len(gone))]).Update("deleted", nil).Error
}

// copy copies a subtree that is not too large.
func (l *workload) copy(tx *gorm.DB, rows []Suite) error {
	s := l.other(rows)
	const many = 30
	if s == nil || len(rows) > many {
		return nil
	}
	_, err := gormplugin.Copy(tx, &Suite{}, s.ID, gormplugin.Below(l.any(rows).ID), gormplugin.CopyAs(l.name()))
	return err
}

// leaves makes a leaf and moves and removes others.
func (l *workload) leaves(tx *gorm.DB, rows []Suite) error {
	s := l.any(rows)
	var cases []Case
	if err := tx.Where("suite_id = ?", s.ID).Order("id").Find(&cases).Error; err != nil {
		return err
	}
	switch {
	case len(cases) == 0 || l.random.IntN(2) == 0:
		return tx.Create(&Case{SuiteID: s.ID, Name: l.name()}).Error
	case l.random.IntN(2) == 0:
		return tx.Model(&cases[0]).Updates(Case{SuiteID: l.any(rows).ID, Name: l.name()}).Error
	default:
		return tx.Delete(&cases[0]).Error
	}
}

// notes changes a column that the tree does not depend on, in many rows at once.
func (l *workload) notes(tx *gorm.DB, rows []Suite) error {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	slices.Sort(ids)
	return tx.Model(&Suite{}).Where("id IN ?", ids[:1+l.random.IntN(len(ids))]).Update("note", l.name()).Error
}
