package gormplugintest

import (
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// retryChecks have the database give up an operation twice.
func retryChecks() []check {
	var checks []check
	for _, op := range []struct {
		name string
		do   func(db *gorm.DB, s, other *Suite) error
	}{
		{"Rename", func(db *gorm.DB, s, _ *Suite) error { return gormplugin.Rename(db, s, s.ID, s.Name+"2") }},
		{"Move", func(db *gorm.DB, s, other *Suite) error { return gormplugin.Move(db, s, s.ID, other.ID) }},
		{"Copy", func(db *gorm.DB, s, _ *Suite) error {
			_, err := gormplugin.Copy(db, &Suite{}, s.ID, *s.ParentID, gormplugin.CopyAs(s.Name+"2"))
			return err
		}},
		{"Delete", func(db *gorm.DB, s, _ *Suite) error { _, err := gormplugin.Delete(db, s, s.ID); return err }},
	} {
		checks = append(checks, check{op.name, func(w *world) {
			other := w.suite(w.root, "a")
			s := w.suite(w.suite(w.root, "b"), "c")
			failures := w.losing(2)
			w.must(op.do(w.db, s, other))
			if *failures != 0 {
				w.Errorf("%d failures were not met", *failures)
			}
			before := w.paths()
			s = w.suite(w.build("/b"), "d")
			*failures = 1
			tx := w.db.Begin()
			defer tx.Rollback()
			w.fails(op.do(tx, s, other), gormplugin.ErrRetry)
			w.must(tx.Rollback().Error)
			w.must(w.db.Unscoped().Delete(s).Error)
			w.has(strings.Fields(before)...)
		}})
	}
	return checks
}

// losing makes the next n writes of the operations on suites fail as if they had lost to another transaction.
func (w *world) losing(n int) *int {
	w.Helper()
	lose := func(tx *gorm.DB) {
		internal := strings.HasPrefix(tx.Statement.SQL.String(), "INSERT INTO")
		if n > 0 && (internal || tx.Statement.Schema != nil) {
			n--
			_ = tx.AddError(gormplugin.ErrRetry)
		}
	}
	w.must(w.db.Callback().Update().After("pathlock:update").Before("gorm:update").Register("test:lose", lose))
	w.must(w.db.Callback().Delete().After("pathlock:delete").Before("gorm:delete").Register("test:lose", lose))
	w.must(w.db.Callback().Raw().Before("gorm:raw").Register("test:lose", lose))
	return &n
}
