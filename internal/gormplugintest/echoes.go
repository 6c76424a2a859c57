package gormplugintest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// echoes are names in the words of databases' errors. A database may repeat the name of a refused
// row in its error.
var echoes = []string{
	`x for key 'PRIMARY`,
	`x' for key 'PRIMARY'`,
	`x' for key 'suites.PRIMARY`,
	`Duplicate entry '1' for key 'suites.PRIMARY'`,
	`x' for key 'PRIMARY' ` + strings.Repeat("x", 200),
	`duplicate key value violates unique constraint "suites_pkey"`,
	`UNIQUE constraint failed: suites.id`,
	`UNIQUE constraint failed: index 'x'`,
	`(SQLSTATE 40001)`,
	`Error 1213 (40001): Deadlock found`,
	`database is locked`,
}

func echoChecks() []check {
	return []check{
		{"a taken name in the words of an error is a taken name", func(w *world) {
			for _, name := range echoes {
				w.suite(w.root, name)
				other := w.suite(w.root, name+"+")
				// A key that no row has makes the upsert an INSERT.
				fresh := rand.Int64N(1<<40) + 1<<41
				for statement, run := range map[string]func() error{
					"create": func() error { return w.db.Create(&Suite{ParentID: &w.root.ID, Name: name}).Error },
					"update": func() error { return w.db.Model(other).Update("name", name).Error },
					"rename": func() error { return gormplugin.Rename(w.db, &Suite{}, other.ID, name) },
					"upsert": func() error {
						return w.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Suite{ID: fresh, ParentID: &w.root.ID, Name: name}).Error
					},
				} {
					err := run()
					if !errors.Is(err, gormplugin.ErrNameTaken) {
						w.Errorf("%s %q: %v", statement, name, err)
						continue
					}
					w.wantTaken(err, "/"+name)
				}
			}
		}},
		{"a taken key in the words of an error is no taken name", func(w *world) {
			drive := fmt.Sprint(rand.Int64N(1 << 50))
			for _, name := range []string{"x for key 'folders.y", "x' for key 'y'", "x\" \"folders_pkey", "failed: folders.name"} {
				id := fmt.Sprintf("%s%d", name, rand.Int32())
				w.must(w.db.Create(&Folder{ID: id, DriveID: drive, Name: id}).Error)
				err := w.db.Create(&Folder{ID: id, DriveID: drive, Name: id + "+"}).Error
				if err == nil || isA(err, gormplugin.ErrNameTaken) {
					w.Errorf("%q: %v", id, err)
				}
			}
		}},
		{"a callback's own error in the words of a database is the callback's", func(w *world) {
			var refusal error
			refused := 0
			w.must(w.db.Callback().Create().Before("gorm:create").Register("refuse", func(db *gorm.DB) {
				if refusal != nil {
					refused++
					_ = db.AddError(refusal)
				}
			}))
			for _, name := range append(echoes, "UNIQUE constraint failed: suites.name", "no such table: suites") {
				refusal, refused = fmt.Errorf("refused: %q", name), 0
				err := w.db.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error
				for _, wrong := range []error{gormplugin.ErrNameTaken, gormplugin.ErrRetry, gormplugin.ErrPathTooLong} {
					if errors.Is(err, wrong) {
						w.Errorf("%v: is %v", err, wrong)
					}
				}
				if !errors.Is(err, refusal) || refused != 1 {
					w.Errorf("refused %d times: %v", refused, err)
				}
			}
		}},
	}
}
