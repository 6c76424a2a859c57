package write

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm/clause"
)

// A tree has either one root row, and that is its only row at the top, or any number of rows at the
// top and no root row. Otherwise two rows could have one path: "/a" at the top, and "a" below the
// root row.
//
// A write that puts a row at the top looks for a row that forbids it: the root row or, for a new
// root row, any row of the tree. Two writes that begin a tree at once have no common row to lock.
// Each database has its own way to separate them:
//
//   - MySQL: the question comes after the write, and under row locks. Whichever of two asks last
//     finds the other's row and waits for its end, since a locking read stops at rows that are not
//     committed yet, at every isolation level.
//   - PostgreSQL shows no such rows. An advisory lock on the tree's top comes before the question:
//     shared for a row at the top, exclusive for a root row. At SERIALIZABLE the database itself
//     notices what a question asked of an older state has missed.
//   - SQLite has one writer at a time.

// guardTop refuses rows that a statement is about to put at the top of trees where another row
// forbids it. [statement.recheckTop] asks again after the write.
func (s *statement) guardTop(l plan.TopArrivals) error {
	if s.Table.Name == nil {
		return nil // no row is a root row
	}
	rowLock := s.Dialect.Share
	if !s.Asserts || s.Dialect.AsksLater {
		rowLock = ""
	}
	for _, at := range l.AtTops() {
		if at.Root && at.AtTop > 1 {
			return &fault.RootRowError{Table: s.Table.TableName, Tree: at.Domain}
		}
		if s.Asserts && s.Dialect.LockTop != "" {
			if err := s.lockTop(at); err != nil {
				return err
			}
		}
		err := s.checkTop(at, 0, rowLock)
		if errors.Is(err, fault.ErrRootRow) && rowLock != s.Dialect.Share && s.Asserts {
			// The plain read may be of an old snapshot.
			err = s.checkTop(at, 0, s.Dialect.Share)
		}
		if err != nil {
			return err
		}
		if s.Asserts && s.Dialect.AsksLater {
			s.tops = append(s.tops, at)
		}
	}
	return nil
}

// recheckTop asks again after the rows are written, if the database needs that.
func (s *statement) recheckTop() error {
	for _, at := range s.tops {
		if err := s.checkTop(at, at.Rows, s.Dialect.Share); err != nil {
			return err
		}
	}
	return nil
}

// checkTop looks for a row that forbids an arrival. Beside a root row, nothing can be at the top. A
// root row can only come into a tree that has no rows but the statement's own, whose number is
// given.
func (s *statement) checkTop(at *plan.TopArrival, own int, rowLock string) error {
	t := s.Table
	where := t.InTree(at.Tree)
	limit := 1
	switch {
	case at.Root:
		limit = own + 1
	case t.ByIDs, t.PathForm.OfParent:
		where = clause.And(where, t.AtTop(), clause.Eq{Column: table.Column(t.Name), Value: ""})
	default:
		where = clause.And(where, clause.Eq{Column: table.Column(t.Path), Value: t.PathForm.Print("")})
	}
	found, err := t.Read(s.DB, table.Selection{Where: where, Lock: rowLock, Ends: []clause.Expression{clause.Expr{SQL: fmt.Sprintf("LIMIT %d", limit)}}})
	if err != nil || len(found) < limit {
		return err
	}
	inTheWay := &fault.RootRowError{Table: t.TableName, Tree: at.Domain}
	for _, n := range found {
		// Some may be the statement's own rows. Only one at the top that is no root row is
		// certainly somebody else's.
		if own == 0 || !at.Root || n.Parent == nil && !n.IsRoot() {
			inTheWay.ID, inTheWay.Root = n.ID, n.IsRoot()
		}
	}
	return inTheWay
}

// lockTop takes PostgreSQL's lock on the top of a tree, until the end of the transaction.
func (s *statement) lockTop(at *plan.TopArrival) error {
	t := s.Table
	digest := fnv.New64a()
	for _, part := range []string{"pathlock top", t.TableName, at.Domain.ID()} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = digest.Write(length[:])
		_, _ = digest.Write([]byte(part))
	}
	lock := s.Dialect.ShareTop
	if at.Root {
		lock = s.Dialect.LockTop
	}
	d := t.Direct(s.DB).Add("SELECT "+s.Dialect.Isolation+" FROM "+lock+" AS l", int64(digest.Sum64()))
	var isolation string
	if err := d.One(&isolation); err != nil {
		return fmt.Errorf("gormplugin: locking the top of %s: %w", at.Domain, err)
	}
	if why := s.Dialect.Refuse(isolation); why != "" {
		return fmt.Errorf("%w: a write to %s at %s", fault.ErrIsolation, t.TableName, why)
	}
	return nil
}
