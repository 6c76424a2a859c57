package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// checkReferences deletes a row while rows of another table refer to one below it, and has one
// refer to a row that is not there: the answer is the same on every database.
func checkReferences(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	if w.db.Name() == "sqlite" {
		t.Skip("whether it asks for foreign keys is a setting of each connection")
	}
	top, below := w.build("/a"), w.build("/a/b")
	w.must(w.db.Exec("CREATE TABLE referring (suite_id BIGINT, FOREIGN KEY (suite_id) REFERENCES suites(id))").Error)
	t.Cleanup(func() { w.must(w.db.Exec("DROP TABLE referring").Error) })
	w.must(w.db.Exec("INSERT INTO referring VALUES (?)", below.ID).Error)
	_, deleted := gormplugin.Delete(w.db.Unscoped(), &Suite{}, top.ID)
	for _, err := range []error{deleted, w.db.Exec("INSERT INTO referring VALUES (-1)").Error} {
		if got := w.plugin.FailureOf(err); err == nil || got != pathlock.FailureReference || errors.Is(err, gormplugin.ErrRetry) {
			t.Errorf("got %q for %v", got, err)
		}
	}
	w.has("/a", "/a/b")
}
