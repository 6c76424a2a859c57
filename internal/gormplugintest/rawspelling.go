package gormplugintest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// shouting is a model of another spelling's table.
type shouting struct {
	ID     int64
	PlanID int64
	Name   string
	Path   string
	Note   string
}

// TableName implements [schema.Tabler].
func (shouting) TableName() string { return "SUITES" }

// spelled are ways to name a table to GORM, whose place in the text %s takes: the current database.
var spelled = []string{"suites", "SUITES", "Suites", "suites ", " suites", "main.suites", "MAIN.SUITES", "temp.suites", "public.suites", "%s.suites", "%s.public.suites", "`suites`", "`SUITES`"}

func spellingChecks() []check {
	return []check{
		{"what the database takes for a guarded table is one, by GORM's own writes", func(w *world) {
			a := w.build("/a")
			defer w.shout()()
			for _, form := range spelled {
				name := w.spell(form)
				written := name
				if !strings.ContainsAny(name, " `") {
					written = w.db.Statement.Quote(name)
				}
				same := w.reaches("UPDATE "+written+" SET note = 'x' WHERE id = ?", a.ID)
				for kind, write := range map[string]func(tx *gorm.DB) error{
					"Update": func(tx *gorm.DB) error { return tx.Table(name).Where("id = ?", a.ID).Update("name", "x").Error },
					"Delete": func(tx *gorm.DB) error { return tx.Table(name).Where("id = ?", a.ID).Delete(&shouting{}).Error },
					"Create": func(tx *gorm.DB) error {
						return tx.Table(name).Create(map[string]any{"plan_id": 1, "name": "x", "path": "/y"}).Error
					},
				} {
					if err := write(w.db); same && !errors.Is(err, gormplugin.ErrUnsupported) {
						w.Errorf("%s of %q writes the guarded table: %v", kind, name, err)
					}
				}
			}
			w.has("/a")
		}},
	}
}

// spell puts the current database into a spelling.
func (w *world) spell(form string) string {
	w.Helper()
	if !strings.Contains(form, "%s") {
		return form
	}
	return fmt.Sprintf(form, w.db.Migrator().CurrentDatabase())
}

// shout makes a table whose name is spelled another way, where the database takes that for another
// one, and returns what drops it.
func (w *world) shout() (drop func()) {
	w.Helper()
	if err := w.db.Migrator().CreateTable(&shouting{}); err != nil {
		return func() {}
	}
	return func() { w.must(w.db.Migrator().DropTable(&shouting{})) }
}

// reaches asks the database whether an UPDATE of a row's note writes the guarded table, and takes
// it back.
func (w *world) reaches(update string, id int64) (guarded bool) {
	w.Helper()
	err := gormplugin.AllowRawWrites(w.db).Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec(update, id).Error; err != nil {
			return errUndone
		}
		var now Suite
		w.must(tx.Take(&now, id).Error)
		guarded = now.Note == "x"
		return errUndone
	})
	w.fails(err, errUndone)
	return guarded
}
