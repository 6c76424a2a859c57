// Package naive changes a plan's tree as code written by hand usually does: read the path, check,
// write. Nothing keeps two requests apart between the read and the write, on one instance or on
// several. The package exists to show what happens then. Each method is correct if it runs alone.
package naive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// Suites changes trees without any protection.
type Suites struct {
	db        *database.DB
	think     time.Duration
	failureOf func(error) pathlock.Failure
}

// New returns a writer on a database. Between a read and a write it waits for up to think, as a
// handler does that validates, asks another service, or loses the processor. failureOf tells which
// errors of the database are [pathlock.FailureLocked].
func New(db *database.DB, think time.Duration, failureOf func(error) pathlock.Failure) *Suites {
	return &Suites{db: db, think: think, failureOf: failureOf}
}

// CreateSuite inserts a row if no sibling has its name.
func (s *Suites) CreateSuite(ctx context.Context, planID, parentID int64, name string) (model.Suite, error) {
	parent, err := s.read(ctx, parentID)
	if err != nil {
		return model.Suite{}, err
	}
	if parent.PlanID != planID {
		return model.Suite{}, &plans.InvalidError{Field: "parent_id", Reason: "is a suite of another plan"}
	}
	if depth := model.Depth(parent.Path) + 1; depth > model.MaxDepth {
		return model.Suite{}, plans.TooDeep("parent_id", depth)
	}
	if err := s.checkFree(ctx, parentID, name); err != nil {
		return model.Suite{}, err
	}
	if err := s.pause(ctx); err != nil {
		return model.Suite{}, err
	}
	return s.insert(ctx, s.db.Pool(), model.Suite{PlanID: planID, ParentID: &parentID, Name: name, Path: parent.Path + "/" + name})
}

// RenameSuite changes the row, and the beginnings of the paths below it.
func (s *Suites) RenameSuite(ctx context.Context, id int64, name string) (model.Suite, error) {
	suite, err := s.read(ctx, id)
	if err != nil {
		return suite, err
	}
	if suite.IsRoot() {
		return suite, &plans.InvalidError{Field: "id", Reason: "is the root suite of a plan"}
	}
	if name != suite.Name {
		if err := s.checkFree(ctx, *suite.ParentID, name); err != nil {
			return suite, err
		}
	}
	path := suite.Path[:strings.LastIndexByte(suite.Path, '/')] + "/" + name
	return s.relocate(ctx, suite, path, `name = ?`, name)
}

// MoveSuite changes the row's parent, and the beginnings of the paths below it.
func (s *Suites) MoveSuite(ctx context.Context, id, parentID int64) (model.Suite, error) {
	suite, err := s.read(ctx, id)
	if err != nil {
		return suite, err
	}
	parent, err := s.read(ctx, parentID)
	if err != nil {
		return suite, err
	}
	if suite.IsRoot() || parent.PlanID != suite.PlanID {
		return suite, &plans.InvalidError{Field: "parent_id", Reason: "cannot be the suite's parent"}
	}
	if parent.ID == suite.ID || strings.HasPrefix(parent.Path+"/", suite.Path+"/") {
		return suite, fmt.Errorf("%w: %s to below %s", gormplugin.ErrWouldCycle, suite.Path, parent.Path)
	}
	if parentID != *suite.ParentID {
		if err := s.checkFree(ctx, parentID, suite.Name); err != nil {
			return suite, err
		}
	}
	if err := s.checkDepth(ctx, suite, model.Depth(parent.Path)+1); err != nil {
		return suite, err
	}
	return s.relocate(ctx, suite, parent.Path+"/"+suite.Name, `parent_id = ?`, parentID)
}

// relocate writes a rename or a move.
func (s *Suites) relocate(ctx context.Context, suite model.Suite, path, assignment string, value any) (model.Suite, error) {
	if err := s.pause(ctx); err != nil {
		return suite, err
	}
	err := s.inTransaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.db.Bind(`UPDATE suites SET `+assignment+`, path = ?, version = version + 1 WHERE id = ?`), value, path, suite.ID)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, s.db.Bind(`UPDATE suites SET path = `+s.db.Dialect.Splice("path")+`, version = version + 1 WHERE `+below),
			path, utf8.RuneCountInString(suite.Path)+1, suite.PlanID, suite.Path+"/", suite.Path+"0")
		return err
	})
	if err != nil {
		return suite, err
	}
	return s.read(ctx, suite.ID)
}

// CopySuite copies the rows of a subtree, but no cases.
func (s *Suites) CopySuite(ctx context.Context, id, parentID int64, name string) (model.Suite, error) {
	source, err := s.read(ctx, id)
	if err != nil {
		return source, err
	}
	parent, err := s.read(ctx, parentID)
	if err != nil {
		return source, err
	}
	if source.IsRoot() || parent.PlanID != source.PlanID {
		return source, &plans.InvalidError{Field: "parent_id", Reason: "cannot be the copy's parent"}
	}
	if err := s.checkFree(ctx, parentID, name); err != nil {
		return source, err
	}
	if err := s.checkDepth(ctx, source, model.Depth(parent.Path)+1); err != nil {
		return source, err
	}
	under, err := s.subtree(ctx, source)
	if err != nil {
		return source, err
	}
	if err := s.pause(ctx); err != nil {
		return source, err
	}
	var top model.Suite
	err = s.inTransaction(ctx, func(tx *sql.Tx) (err error) {
		top, err = s.insert(ctx, tx, model.Suite{PlanID: source.PlanID, ParentID: &parentID, Name: name, Path: parent.Path + "/" + name})
		if err != nil {
			return err
		}
		copies := map[int64]model.Suite{source.ID: top}
		for _, suite := range under {
			at, ok := copies[*suite.ParentID]
			if !ok {
				continue // its path is below the source but its parent is not: the tree is broken already
			}
			row := model.Suite{PlanID: at.PlanID, ParentID: &at.ID, Name: suite.Name, Path: at.Path + "/" + suite.Name}
			if copies[suite.ID], err = s.insert(ctx, tx, row); err != nil {
				return err
			}
		}
		return nil
	})
	return top, err
}

// DeleteSuite marks the row and those below it as deleted.
func (s *Suites) DeleteSuite(ctx context.Context, id int64) error {
	suite, err := s.read(ctx, id)
	if err != nil {
		return err
	}
	if suite.IsRoot() {
		return &plans.InvalidError{Field: "id", Reason: "is the root suite of a plan"}
	}
	if err := s.pause(ctx); err != nil {
		return err
	}
	return s.inTransaction(ctx, func(tx *sql.Tx) error {
		now := time.Now().UTC()
		if _, err := tx.ExecContext(ctx, s.db.Bind(`UPDATE suites SET deleted_at = ? WHERE id = ?`), now, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, s.db.Bind(`UPDATE suites SET deleted_at = ? WHERE deleted_at IS NULL AND `+below),
			now, suite.PlanID, suite.Path+"/", suite.Path+"0")
		return err
	})
}

// pause waits for a random part of think.
func (s *Suites) pause(ctx context.Context) error {
	if s.think <= 0 {
		return nil
	}
	timer := time.NewTimer(rand.N(s.think))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// checkFree is the usual duplicate check, which two concurrent requests both pass.
func (s *Suites) checkFree(ctx context.Context, parentID int64, name string) error {
	var taken int
	err := s.db.Pool().QueryRowContext(ctx, s.db.Bind(`SELECT COUNT(*) FROM suites WHERE parent_id = ? AND name = ? AND deleted_at IS NULL`), parentID, name).Scan(&taken)
	if err == nil && taken > 0 {
		err = &plans.NameTakenError{Name: name}
	}
	return err
}

// checkDepth refuses a place at depth where the suite, or one below it, would be too deep. It reads
// the subtree only if the suite goes deeper than it is.
func (s *Suites) checkDepth(ctx context.Context, suite model.Suite, depth int) error {
	deeper := depth - model.Depth(suite.Path)
	if deeper > 0 {
		under, err := s.subtree(ctx, suite)
		if err != nil {
			return err
		}
		for _, below := range under {
			depth = max(depth, model.Depth(below.Path)+deeper)
		}
	}
	if depth > model.MaxDepth {
		return plans.TooDeep("parent_id", depth)
	}
	return nil
}

// missing turns the error of a read that found no row into [pathlock.ErrNotFound].
func missing(err error, id int64) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: suite %d", pathlock.ErrNotFound, id)
	}
	return err
}
