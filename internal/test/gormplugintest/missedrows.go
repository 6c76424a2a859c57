package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// keepers are triggers under which a database writes no row whose note is "kept", and says nothing
// of it. MySQL has none that could.
var keepers = map[string][]string{
	"postgres": {
		`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
			IF TG_OP = ''INSERT'' THEN IF NEW.note = ''kept'' THEN RETURN NULL; END IF; RETURN NEW; END IF;
			IF OLD.note = ''kept'' THEN RETURN NULL; END IF;
			IF TG_OP = ''DELETE'' THEN RETURN OLD; END IF; RETURN NEW;
		END'`,
		"CREATE TRIGGER keep BEFORE INSERT OR UPDATE OR DELETE ON suites FOR EACH ROW EXECUTE FUNCTION keep()",
	},
	"sqlite": {
		"CREATE TRIGGER keep_new BEFORE INSERT ON suites WHEN NEW.note = 'kept' BEGIN SELECT RAISE(IGNORE); END",
		"CREATE TRIGGER keep_old BEFORE UPDATE ON suites WHEN OLD.note = 'kept' BEGIN SELECT RAISE(IGNORE); END",
		"CREATE TRIGGER keep_all BEFORE DELETE ON suites WHEN OLD.note = 'kept' BEGIN SELECT RAISE(IGNORE); END",
	},
}

// takenAway ends the triggers.
var takenAway = map[string][]string{
	"postgres": {"DROP TRIGGER keep ON suites", "DROP FUNCTION keep"},
	"sqlite":   {"DROP TRIGGER keep_new", "DROP TRIGGER keep_old", "DROP TRIGGER keep_all"},
}

// checkMissedRows has a database write fewer rows than a statement was planned for: each is rolled
// back, however few rows it missed.
func checkMissedRows(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	if keepers[w.db.Name()] == nil {
		return
	}
	run := func(statements []string) {
		for _, s := range statements {
			w.must(gormplugin.AllowRawWrites(w.db).Exec(s).Error)
		}
	}
	c, place, e, dead := w.build("/c"), w.build("/d"), w.build("/e"), w.build("/f")
	also := w.build("/g")
	w.must(w.db.Delete(dead).Error)
	w.must(w.db.Unscoped().Model(&Suite{}).Where("id IN ?", []int64{c.ID, dead.ID, also.ID}).UpdateColumn("note", "kept").Error)
	run(keepers[w.db.Name()])
	defer func() { run(takenAway[w.db.Name()]) }()
	both := []int64{c.ID, e.ID}
	for _, write := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error {
			return w.db.Create([]*Suite{{ParentID: &place.ID, Name: "new"}, {ParentID: &place.ID, Name: "kept", Note: "kept"}}).Error
		}},
		{"Rename", func() error { return gormplugin.Rename(w.db, &Suite{}, c.ID, "renamed") }},
		{"a move of several", func() error {
			return w.db.Model(&Suite{}).Where("id IN ?", both).Update("parent_id", place.ID).Error
		}},
		{"Delete", func() error {
			_, err := gormplugin.Delete(w.db, &Suite{}, c.ID)
			return err
		}},
		{"a deletion of several", func() error { return w.db.Delete(&Suite{}, both).Error }},
		{"a deletion that keeps all", func() error { return w.db.Delete(&Suite{}, []int64{c.ID, also.ID}).Error }},
		{"a permanent deletion of several", func() error { return w.db.Unscoped().Delete(&Suite{}, both).Error }},
		{"a permanent deletion beside a deleted row", func() error { return w.db.Unscoped().Delete(&Suite{}, []int64{e.ID, dead.ID}).Error }},
	} {
		if err := write.do(); !errors.Is(err, gormplugin.ErrMissedRows) {
			t.Errorf("%s: %v", write.name, err)
		}
		w.has("/c", "/d", "/e", "/g")
	}
}
