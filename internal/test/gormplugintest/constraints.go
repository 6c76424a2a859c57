package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// Limited is a row of a table that refuses some values. No plugin guards it.
type Limited struct {
	ID      int64
	Needed  *string
	Code    string
	Amount  int64
	SuiteID *int64
}

// TableName implements GORM's interface.
func (Limited) TableName() string { return "limited" }

// limitedTable makes the table.
const limitedTable = "CREATE TABLE limited (id INT PRIMARY KEY, needed VARCHAR(5) NOT NULL, code VARCHAR(5) UNIQUE, amount INT CHECK (amount > 0), suite_id BIGINT, FOREIGN KEY (suite_id) REFERENCES suites(id))"

// limitedTriggers make a trigger that refuses the row 99 in words of its own.
var limitedTriggers = map[string][]string{
	"mysql": {"CREATE TRIGGER limits BEFORE INSERT ON limited FOR EACH ROW IF NEW.id = 99 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'; END IF"},
	"postgres": {"CREATE FUNCTION limits() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.id = 99 THEN RAISE EXCEPTION ''not today''; END IF; RETURN NEW; END'",
		"CREATE TRIGGER limits BEFORE INSERT ON limited FOR EACH ROW EXECUTE FUNCTION limits()"},
	"sqlite": {"CREATE TRIGGER limits BEFORE INSERT ON limited WHEN NEW.id = 99 BEGIN SELECT RAISE(ABORT, 'not today'); END"},
}

// checkConstraints has each constraint of a database refuse a write: what that means to a client is
// the same on every database, whether or not GORM translates the error.
func checkConstraints(t *testing.T, d Database) {
	for _, translated := range []bool{false, true} {
		w := newWorld(t, d, settings{connections: 1, config: gorm.Config{TranslateError: translated}})
		isSQLite := w.db.Name() == "sqlite"
		if isSQLite {
			w.must(w.db.Exec("PRAGMA foreign_keys = ON").Error) // of the only connection
		}
		w.must(w.db.Exec(limitedTable).Error)
		for _, statement := range limitedTriggers[w.db.Name()] {
			w.must(w.db.Exec(statement).Error)
		}
		top, below := w.build("/a"), w.build("/a/b")
		needed := "n"
		w.must(w.db.Create(&Limited{ID: 1, Needed: &needed, Code: "c", Amount: 1, SuiteID: &below.ID}).Error)
		row := func(change func(l *Limited)) func() error {
			l := &Limited{ID: 2, Needed: &needed, Code: "d", Amount: 1}
			change(l)
			return func() error { return w.db.Create(l).Error }
		}
		sql := func(statement string) func() error { return func() error { return w.db.Exec(statement).Error } }
		for _, c := range []struct {
			what  string
			write func() error
			want  pathlock.Failure
			// unlimited is set where a column of SQLite takes the value.
			unlimited bool
		}{
			{"NULL", row(func(l *Limited) { l.Needed = nil }), pathlock.FailureInvalid, false},
			{"no value", sql("INSERT INTO limited (id, code, amount) VALUES (2, 'd', 1)"), pathlock.FailureInvalid, false},
			{"a CHECK", row(func(l *Limited) { l.Amount = -1 }), pathlock.FailureInvalid, false},
			{"a text that is too long", row(func(l *Limited) { l.Code = "longer" }), pathlock.FailureInvalid, true},
			{"a number that is too large", row(func(l *Limited) { l.Amount = 1 << 40 }), pathlock.FailureInvalid, true},
			{"a number that is too large for all", sql("UPDATE limited SET amount = 99999999999999999999"), pathlock.FailureInvalid, true},
			{"a primary key that is taken", row(func(l *Limited) { l.ID = 1 }), pathlock.FailureDuplicate, false},
			{"a value that is taken", row(func(l *Limited) { l.Code = "c" }), pathlock.FailureDuplicate, false},
			{"a division by zero", sql("UPDATE limited SET amount = amount / 0 WHERE id = 1"), pathlock.FailureInvalid, true},
			{"a row that is not there", row(func(l *Limited) { l.SuiteID = new(int64(-1)) }), pathlock.FailureReference, false},
			{"a row that is referred to", func() error { return w.db.Unscoped().Delete(&Suite{ID: below.ID}).Error }, pathlock.FailureReference, false},
			{"a row above one that is referred to", func() error {
				_, err := gormplugin.Delete(w.db.Unscoped(), &Suite{}, top.ID)
				return err
			}, pathlock.FailureReference, false},
			{"a trigger", row(func(l *Limited) { l.ID = 99 }), "", false},
		} {
			err := c.write()
			if taken := err == nil; taken != (c.unlimited && isSQLite) {
				t.Errorf("%s, translated=%v: %v", c.what, translated, err)
			}
			if got := w.plugin.FailureOf(err); err != nil && got != c.want || errors.Is(err, gormplugin.ErrRetry) {
				t.Errorf("%s, translated=%v: got %q, want %q, for %v", c.what, translated, got, c.want, err)
			}
			if is := errors.Is(err, gorm.ErrForeignKeyViolated); is != (translated && c.want == pathlock.FailureReference) {
				t.Errorf("%s, translated=%v: GORM's error is %v in %v", c.what, translated, is, err)
			}
			if err == nil {
				w.must(w.db.Delete(&Limited{}, 2).Error)
			}
		}
		w.has("/a", "/a/b")
		w.must(w.db.Exec("DROP TABLE limited").Error)
		if w.db.Name() == "postgres" {
			w.must(w.db.Exec("DROP FUNCTION limits").Error)
		}
	}
}
