package plans

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Think is the longest time that a handler waits between a read and a write, as a handler does when
// it validates, asks another service, or loses the processor.
const Think = 2 * time.Millisecond

// below is the range of the rows below a path.
const below = `plan_id = ? AND path >= ? AND path < ?`

// Unprotected changes a plan's tree as code written by hand usually does: read the path, check,
// write. Nothing keeps two requests apart between the read and the write, on one instance or on
// several. It exists to show what happens then. Each method is correct if it runs alone.
type Unprotected struct{ db *DB }

// NewUnprotected returns a writer on a database.
func NewUnprotected(db *DB) *Unprotected { return &Unprotected{db} }

// CreateSuite inserts a row if no sibling has its name.
func (s *Unprotected) CreateSuite(ctx context.Context, planID, parentID int64, name string) (Suite, error) {
	parent, err := s.target(ctx, planID, parentID, 0, name)
	if err != nil {
		return Suite{}, err
	}
	suite := Suite{PlanID: planID, ParentID: &parentID, Name: name, Path: parent.Path + "/" + name, Version: 1}
	err = s.later(ctx, planID, func(tx *gorm.DB) error { return tx.Create(&suite).Error })
	return suite, err
}

// RenameSuite changes the row, and the beginnings of the paths below it.
func (s *Unprotected) RenameSuite(ctx context.Context, id int64, name string) (Suite, error) {
	return s.relocate(ctx, id, 0, name)
}

// MoveSuite changes the row's parent, and the beginnings of the paths below it.
func (s *Unprotected) MoveSuite(ctx context.Context, id, parentID int64) (Suite, error) {
	return s.relocate(ctx, id, parentID, "")
}

// relocate gives a suite the parent and the name, or those that it has instead of 0 and "".
func (s *Unprotected) relocate(ctx context.Context, id, parentID int64, name string) (Suite, error) {
	suite, err := branch(s.db.Plain.WithContext(ctx), id)
	if err != nil {
		return suite, err
	}
	name = cmp.Or(name, suite.Name)
	parent, err := s.target(ctx, suite.PlanID, cmp.Or(parentID, *suite.ParentID), id, name)
	if err != nil {
		return suite, err
	}
	if parentID != 0 && strings.HasPrefix(parent.Path+"/", suite.Path+"/") {
		return suite, fmt.Errorf("%w: %s to below %s", gormplugin.ErrWouldCycle, suite.Path, parent.Path)
	}
	path, version := parent.Path+"/"+name, gorm.Expr("version + 1")
	err = s.later(ctx, suite.PlanID, func(tx *gorm.DB) error {
		err := tx.Model(&Suite{}).Where("id = ?", id).
			Updates(map[string]any{"parent_id": parent.ID, "name": name, "path": path, "version": version}).Error
		if err != nil {
			return err
		}
		splice := `CONCAT(?, SUBSTRING(path, ?))`
		if s.db.Dialect == sqlstore.Postgres {
			splice = `CAST(? AS TEXT) || SUBSTRING(path, CAST(? AS INTEGER))` // whose types it cannot tell
		}
		spliced := gorm.Expr(splice, path, utf8.RuneCountInString(suite.Path)+1)
		return tx.Model(&Suite{}).Where(below, suite.PlanID, suite.Path+"/", suite.Path+"0").
			Updates(map[string]any{"path": spliced, "version": version}).Error
	})
	if err != nil {
		return suite, err
	}
	return load[Suite](s.db.Plain.WithContext(ctx), "suite", id)
}

// CopySuite copies the rows of a subtree, but no cases.
func (s *Unprotected) CopySuite(ctx context.Context, id, parentID int64, name string) (Suite, error) {
	source, err := branch(s.db.Plain.WithContext(ctx), id)
	if err != nil {
		return source, err
	}
	parent, err := s.target(ctx, source.PlanID, parentID, 0, name)
	if err != nil {
		return source, err
	}
	var under []Suite // parents before their children
	err = s.db.Plain.WithContext(ctx).Where(below, source.PlanID, source.Path+"/", source.Path+"0").Order("path").Find(&under).Error
	if err != nil {
		return source, err
	}
	var top Suite
	err = s.later(ctx, source.PlanID, func(tx *gorm.DB) error {
		top = Suite{PlanID: source.PlanID, ParentID: &parentID, Name: name, Path: parent.Path + "/" + name, Version: 1}
		if err := tx.Create(&top).Error; err != nil {
			return err
		}
		copies := map[int64]Suite{source.ID: top}
		for _, suite := range under {
			at, ok := copies[*suite.ParentID]
			if !ok {
				continue // its path is below the source but its parent is not: the tree is broken already
			}
			row := Suite{PlanID: at.PlanID, ParentID: &at.ID, Name: suite.Name, Path: at.Path + "/" + suite.Name, Version: 1}
			if err := tx.Create(&row).Error; err != nil {
				return err
			}
			copies[suite.ID] = row
		}
		return nil
	})
	return top, err
}

// DeleteSuite marks the row and those below it as deleted.
func (s *Unprotected) DeleteSuite(ctx context.Context, id int64) error {
	suite, err := branch(s.db.Plain.WithContext(ctx), id)
	if err != nil {
		return err
	}
	return s.later(ctx, suite.PlanID, func(tx *gorm.DB) error {
		return tx.Where("id = ?", id).Or(below, suite.PlanID, suite.Path+"/", suite.Path+"0").Delete(&Suite{}).Error
	})
}

// target reads the parent of a suite's new place. It refuses one in another plan, and a name that
// another child has. That is the usual check, which two concurrent requests both pass.
func (s *Unprotected) target(ctx context.Context, planID, parentID, id int64, name string) (Suite, error) {
	db := s.db.Plain.WithContext(ctx)
	parent, err := suiteOf(db, planID, "parent_id", parentID)
	if err != nil {
		return parent, err
	}
	var taken int64
	err = db.Model(&Suite{}).Where("parent_id = ? AND name = ? AND id <> ?", parentID, name, id).Count(&taken).Error
	if err == nil && taken > 0 {
		err = &NameTakenError{Name: name}
	}
	return parent, err
}

// later changes a plan in a transaction after a random part of [Think].
func (s *Unprotected) later(ctx context.Context, planID int64, do func(*gorm.DB) error) error {
	select {
	case <-time.After(rand.N(Think)):
		return s.db.Plain.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			if err := do(tx); err != nil {
				return err
			}
			return Changed(tx, planID)
		}, isolation(s.db))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
