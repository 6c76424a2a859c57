package gormplugintest

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkTaken checks that only a sibling's name is a name that is taken, whether or not GORM
// translates the error.
func checkTaken(t *testing.T, d Database) {
	for _, translated := range []bool{false, true} {
		w := cardWorld(t, d, gorm.Config{TranslateError: translated}, "/a", "/a/b", "/a/c")
		a, code := w.ids["/a"], "k"
		// The model does not know these indexes; one takes the place of its own.
		w.must(w.db.Exec("CREATE UNIQUE INDEX titles ON cards (title)").Error)
		w.must(w.db.Exec("CREATE UNIQUE INDEX by_hand ON cards (parent_id, name)").Error)
		if translated {
			w.must(w.db.Migrator().DropIndex(&card{}, "card_sibling"))
		}
		w.must(w.db.Model(&card{ID: w.ids["/a/b"]}).Updates(&card{Code: &code, Title: &code}).Error)
		for what, write := range map[string]func(db *gorm.DB) error{
			"a key":   func(db *gorm.DB) error { return db.Create(&card{ID: a, ParentID: &a, Name: "free"}).Error },
			"a code":  func(db *gorm.DB) error { return db.Create(&card{ParentID: &a, Name: "free", Code: &code}).Error },
			"a title": func(db *gorm.DB) error { return db.Create(&card{ParentID: &a, Name: "free", Title: &code}).Error },
			"a code, of a rename": func(db *gorm.DB) error {
				return db.Model(&card{ID: w.ids["/a/c"]}).Updates(&card{Name: "free", Code: &code}).Error
			},
			"a code, of a child": func(db *gorm.DB) error {
				return db.Create(&card{Name: "top", Children: []card{{Name: "free", Code: &code}}}).Error
			},
		} {
			for _, err := range []error{write(w.db), w.db.Transaction(write)} {
				if got := w.plugin.FailureOf(err); got != pathlock.FailureDuplicate || isA(err, gorm.ErrDuplicatedKey) != translated {
					t.Errorf("%s, translated=%v: got %q for %v", what, translated, got, err)
				}
			}
		}
		for what, write := range map[string]func(db *gorm.DB) error{
			"a create": func(db *gorm.DB) error { return db.Create(&card{ParentID: &a, Name: "b"}).Error },
			"a rename": func(db *gorm.DB) error { return db.Model(&card{ID: w.ids["/a/c"]}).Update("name", "b").Error },
		} {
			for _, err := range []error{write(w.db), w.db.Transaction(write)} {
				if w.namesTaken(err, "/a/b"); isA(err, gorm.ErrDuplicatedKey) != translated {
					t.Errorf("%s, translated=%v: got %v", what, translated, err)
				}
			}
		}
		w.cards("/a", "/a/b", "/a/c")
		// Where a column is shorter than the model says, only a name makes a path too long.
		if w.db.Name() == "mysql" {
			w.must(gormplugin.AllowRawWrites(w.db).Exec("ALTER TABLE cards MODIFY name VARCHAR(10), MODIFY title VARCHAR(10)").Error)
			long := "eleven char"
			w.fails(w.db.Create(&card{ParentID: &a, Name: long}).Error, gormplugin.ErrPathTooLong)
			if err := w.db.Create(&card{ParentID: &a, Name: "x", Title: &long}).Error; err == nil || isA(err, gormplugin.ErrPathTooLong) {
				t.Errorf("a title that is too long: %v", err)
			}
		}
		w.must(w.db.Migrator().DropTable(&card{}))
	}
}
