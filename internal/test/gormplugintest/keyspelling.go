package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// UUID is a key that is a text to Go, and of which a database with such a type takes several texts
// for one.
type UUID string

// GormDBDataType says what the column is, to GORM's migrator.
func (UUID) GormDBDataType(db *gorm.DB, _ *schema.Field) string {
	return map[string]string{"mysql": "char(40) COLLATE utf8mb4_bin", "postgres": "uuid", "sqlite": "text"}[db.Name()]
}

// UnmarshalText implements [encoding.TextUnmarshaler], as most types of UUIDs do.
func (u *UUID) UnmarshalText(text []byte) error {
	*u = UUID(text)
	return nil
}

// someUUID makes one as databases spell them.
func someUUID() any { return UUID(fmt.Sprintf("a0eebc99-9c0b-4ef8-bb6d-%012x", rand.Int64N(1<<48))) }

// respelled is a UUID in another spelling, where the database knows one.
func respelled(database string, key any) any {
	id, ok := key.(UUID)
	if !ok {
		return key
	}
	switch database {
	case "postgres":
		return UUID("{" + strings.ToUpper(strings.ReplaceAll(string(id), "-", "")) + "}")
	case "mysql":
		return id + "  " // in a column of CHAR
	default:
		return id
	}
}

// Loose has keys that the database finds by other texts.
type Loose keyed[string]

// checkLooseKeys writes a tree whose keys come in another letter case than the database's, which
// only a collation finds: it is refused, and the error says how the database spells it. That others
// have respelled what is above a row refuses nothing, and what is below a respelled row follows it.
func checkLooseKeys(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&Loose{})})
	typ := map[string]string{"mysql": "VARCHAR(40) COLLATE utf8mb4_general_ci", "postgres": "VARCHAR(40) COLLATE caseless", "sqlite": "TEXT COLLATE NOCASE"}[w.db.Name()]
	if w.db.Name() == "postgres" {
		w.must(w.db.Exec("CREATE COLLATION IF NOT EXISTS caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)").Error)
	}
	w.must(w.db.Exec("CREATE TABLE looses (id " + typ + " PRIMARY KEY, tree VARCHAR(40) NOT NULL, parent " + typ + ", name VARCHAR(100) NOT NULL, path VARCHAR(500) NOT NULL) " + d.TableOptions).Error)
	w.must(w.db.Create([]*Loose{{ID: "top", Tree: "t", Name: "a"}, {ID: "below", Tree: "t", Name: "b"}}).Error)
	_, resolved := w.plugin.Resolver(&Loose{}).Resolve(t.Context(), "TOP")
	for what, err := range map[string]error{
		"Create":  w.db.Create(&Loose{ID: "new", Parent: new("TOP"), Name: "c"}).Error,
		"Update":  w.db.Model(&Loose{ID: "below"}).Update("parent", "TOP").Error,
		"Move":    gormplugin.Move(w.db, &Loose{}, "below", gormplugin.Below("TOP")),
		"Resolve": resolved,
	} {
		if !isA(err, pathlock.ErrInvalidID) || !strings.Contains(err.Error(), `"top"`) {
			t.Errorf("%s: got %v, want one that says how the database spells it", what, err)
		}
	}
	w.must(gormplugin.Move(w.db, &Loose{}, "below", gormplugin.Below("top")))
	raw := gormplugin.AllowRawWrites(w.db) // which this process learns nothing of
	w.must(raw.Exec("UPDATE looses SET id = 'TOP' WHERE id = 'top'").Error)
	w.must(raw.Exec("UPDATE looses SET parent = 'TOP' WHERE id = 'below'").Error)
	w.must(w.db.Model(&Loose{ID: "below"}).Update("name", "c").Error)
	_, resolved = w.plugin.Resolver(&Loose{}).Resolve(t.Context(), "below")
	w.must(resolved)
	w.must(w.db.Create(&Loose{ID: "deep", Parent: new("below"), Name: "d"}).Error)
	w.must(raw.Exec("UPDATE looses SET id = 'BELOW' WHERE id = 'below'").Error)
	w.must(gormplugin.Rename(w.db, &Loose{}, "BELOW", "e"))
	var deep Loose
	w.must(w.db.Take(&deep, "id = ?", "deep").Error)
	if deep.Path != "/a/e/d" {
		t.Errorf("what is below the renamed row is at %s", deep.Path)
	}
}
