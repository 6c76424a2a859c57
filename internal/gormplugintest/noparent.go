package gormplugintest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// More types of keys and parents than [checkKeys] has.
type (
	signedKeyed struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent *int64 `pathlock:"parent"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
	}
	genericKeyed struct {
		ID     int64
		Tree   int64           `pathlock:"tree"`
		Parent sql.Null[int64] `pathlock:"parent" gorm:"type:bigint"`
		Name   string          `pathlock:"name" gorm:"size:100"`
		Path   string          `pathlock:"path" gorm:"size:500"`
	}
	requiredKeyed struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent *int64 `pathlock:"parent" gorm:"not null"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
	}
	defaultKeyed struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent int64  `pathlock:"parent" gorm:"not null;default:0"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
	}
	pointedKeyed struct {
		ID     string  `gorm:"primaryKey;size:36"`
		Tree   string  `pathlock:"tree" gorm:"size:36"`
		Parent *string `pathlock:"parent" gorm:"size:36"`
		Name   string  `pathlock:"name" gorm:"size:100"`
		Path   string  `pathlock:"path" gorm:"size:500"`
	}
)

// spelling is one way to say that a row has no parent: the type of a parent column, a value, and
// what the column then holds.
type spelling struct {
	name      string
	model     any
	key       func() any
	tree      any
	none      any
	wantsNull bool
}

func spellings() []spelling {
	id := func() any { return rand.Int64() }
	text := func() any { return fmt.Sprintf("%032x", rand.Uint64()) }
	return []spelling{
		{"a pointer, nil", signedKeyed{}, id, int64(1), (*int64)(nil), true},
		{"a pointer, 0", signedKeyed{}, id, int64(1), 0, true},
		{"a pointer to 0", signedKeyed{}, id, int64(1), new(int64), true},
		{"a pointer, 0 of another type", signedKeyed{}, id, int64(1), uint8(0), true},
		{"a pointer to a large number, 0", unsignedKeyed{}, func() any { return 1<<63 - 1 - rand.Uint64N(1<<40) }, uint16(1), uint64(0), true},
		{"NullInt64, 0", nullKeyed{}, id, int64(1), sql.NullInt64{Valid: true}, true},
		{"NullInt64, NULL", nullKeyed{}, id, int64(1), sql.NullInt64{}, true},
		{"Null, 0", genericKeyed{}, id, int64(1), sql.Null[int64]{Valid: true}, true},
		{"NullString, empty", textKeyed{}, text, "a tree", sql.NullString{Valid: true}, true},
		{"a pointer to a text, empty", pointedKeyed{}, text, "a tree", "", true},
		{"a pointer to bytes, all 0", binaryKeyed{}, func() any { return Binary(someBytes()) }, Binary(someBytes()), Binary{}, true},
		{"a pointer to bytes stored as a text, all 0", textualKeyed{}, func() any { return Textual(someBytes()) }, Textual(someBytes()), Textual{}, true},
		{"a number, 0", zeroKeyed{}, func() any { return number(rand.Int32()) }, number(1), 0, false},
		{"a number, nil", zeroKeyed{}, func() any { return number(rand.Int32()) }, number(1), nil, false},
		{"a pointer that cannot be NULL, 0", requiredKeyed{}, id, int64(1), new(int64), false},
		{"a pointer that cannot be NULL, nil", requiredKeyed{}, id, int64(1), nil, false},
		{"a number with a default", defaultKeyed{}, id, int64(1), 0, false},
	}
}

// checkNoParent writes rows without a parent in every form, for every type of parent column.
// Whatever the caller writes for none, the row is at the top, its column holds the one value for
// that, and so does the caller's struct.
func checkNoParent(t *testing.T, d Database) {
	// Each form begins with the rows /a and /a/b, and writes the row at the top that is to be /x.
	for _, form := range []struct {
		name  string
		write func(k *keyed, s spelling, a, b any) error
	}{
		{"Create of a struct", func(k *keyed, s spelling, _, _ any) error {
			return k.db.Create(k.orphan(s, s.key(), s.tree)).Error
		}},
		{"Create of a slice", func(k *keyed, s spelling, _, _ any) error {
			return k.db.Create(k.rows(k.orphan(s, s.key(), s.tree))).Error
		}},
		{"Create of a map", func(k *keyed, s spelling, _, _ any) error {
			return k.db.Model(k.new()).Create(map[string]any{"id": s.key(), "tree": s.tree, "parent": s.none, "name": "x"}).Error
		}},
		{"Create of a map by fields", func(k *keyed, s spelling, _, _ any) error {
			return k.db.Model(k.new()).Create(&[]map[string]any{{"ID": s.key(), "Tree": s.tree, "Parent": s.none, "Name": "x"}}).Error
		}},
		{"Updates with a map", func(k *keyed, s spelling, _, b any) error {
			return k.db.Model(k.row(b, nil, nil, "")).Updates(map[string]any{"parent": s.none, "name": "x"}).Error
		}},
		{"Updates with a map by condition", func(k *keyed, s spelling, _, b any) error {
			return k.db.Model(k.new()).Where("id = ?", b).Updates(map[string]any{"Parent": s.none, "Name": "x"}).Error
		}},
		{"Update of a column", func(k *keyed, s spelling, _, b any) error {
			if err := k.db.Model(k.row(b, nil, nil, "")).Update("name", "x").Error; err != nil {
				return err
			}
			row := k.row(b, nil, nil, "")
			err := k.db.Model(row).Update("parent", s.none).Error
			k.cleared(row, s)
			return err
		}},
		{"UpdateColumns", func(k *keyed, s spelling, _, b any) error {
			return k.db.Model(k.row(b, nil, nil, "")).UpdateColumns(map[string]any{"parent": s.none, "name": "x"}).Error
		}},
		{"Updates with a struct and Select", func(k *keyed, s spelling, _, b any) error {
			return k.db.Model(k.row(b, nil, nil, "")).Select("Parent", "Name").Updates(k.orphan(s, nil, nil)).Error
		}},
		{"Save", func(k *keyed, s spelling, _, b any) error {
			row := k.orphan(s, b, s.tree)
			err := k.db.Save(row).Error
			k.cleared(row, s)
			return err
		}},
		{"an upsert of a new row", func(k *keyed, s spelling, _, _ any) error {
			return k.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(k.orphan(s, s.key(), s.tree)).Error
		}},
		{"an upsert of a row that is there", func(k *keyed, s spelling, _, _ any) error {
			id := s.key()
			k.must(k.db.Create(k.row(id, s.tree, nil, "x")).Error)
			return k.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(k.orphan(s, id, s.tree)).Error
		}},
		{"an upsert of a map that is there", func(k *keyed, s spelling, _, _ any) error {
			id := s.key()
			k.must(k.db.Create(k.row(id, s.tree, nil, "x")).Error)
			return k.db.Model(k.new()).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"parent", "name"})}).
				Create(map[string]any{"id": id, "tree": s.tree, "parent": s.none, "name": "x"}).Error
		}},
	} {
		t.Run(form.name, func(t *testing.T) {
			for _, s := range spellings() {
				t.Run(s.name, func(t *testing.T) {
					k := newKeyed(t, d, s.model)
					a, b := s.key(), s.key()
					k.must(k.db.Create(k.row(a, s.tree, nil, "a")).Error)
					k.must(k.db.Create(k.row(b, nil, a, "b")).Error)
					k.must(form.write(k, s, a, b))
					var isNull bool
					k.must(k.db.Raw("SELECT parent IS NULL FROM " + k.table() + " WHERE path = '/x'").Row().Scan(&isNull))
					if isNull != s.wantsNull {
						t.Errorf("the parent column is NULL: %v, want %v", isNull, s.wantsNull)
					}
					// What is read counts as the same: the row can be written below, and moved,
					// like any other.
					k.must(k.db.Model(k.new()).Where("path = '/x'").Update("parent", a).Error)
					var n int64
					k.must(k.db.Model(k.new()).Where("path = '/a/x'").Count(&n).Error)
					if n != 1 {
						t.Errorf("%d rows at /a/x after a move back", n)
					}
				})
			}
		})
	}
	t.Run("rows with a zero that was there before", func(t *testing.T) { checkZeroParents(t, d) })
}

// checkZeroParents has a table in which rows at the top have a zero beside others that have NULL.
func checkZeroParents(t *testing.T, d Database) {
	for _, s := range spellings() {
		if !s.wantsNull {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			k := newKeyed(t, d, s.model)
			a, b := s.key(), s.key()
			k.must(k.db.Create(k.row(a, s.tree, nil, "a")).Error)
			k.must(k.db.Create(k.row(b, s.tree, nil, "b")).Error)
			zero := reflect.Zero(reflect.TypeOf(a)).Interface()
			k.must(gormplugin.AllowRawWrites(k.db).Exec("UPDATE "+k.table()+" SET parent = ? WHERE id = ?", zero, a).Error)
			k.must(k.db.Create(k.row(s.key(), nil, a, "c")).Error)
			k.must(k.db.Model(k.new()).Where("id = ?", a).Update("name", "x").Error)
			k.must(k.db.Model(k.new()).Where("id = ?", b).Update("parent", a).Error)
			k.must(k.db.Save(k.row(a, s.tree, nil, "y")).Error)
			var paths []string
			k.must(k.db.Model(k.new()).Order("path").Pluck("path", &paths).Error)
			if got := strings.Join(paths, " "); got != "/y /y/b /y/c" {
				t.Errorf("the tree is %s", got)
			}
		})
	}
}

// orphan returns a pointer to a struct of the model, called x, whose parent is what the spelling
// says.
func (k *keyed) orphan(s spelling, id, tree any) any {
	k.Helper()
	row := k.row(id, tree, nil, "x")
	field := k.schema.FieldsByDBName["parent"]
	k.must(field.Set(k.Context(), reflect.ValueOf(row).Elem(), s.none))
	return row
}

// cleared checks that a struct says in the one way that its row has no parent.
func (k *keyed) cleared(row any, s spelling) {
	k.Helper()
	value, isZero := k.schema.FieldsByDBName["parent"].ValueOf(k.Context(), reflect.ValueOf(row).Elem())
	if s.wantsNull && !isZero {
		k.Errorf("the struct's parent is %v, want none", value)
	}
}

// table returns the model's table, quoted.
func (k *keyed) table() string {
	stmt := &gorm.Statement{DB: k.db}
	return stmt.Quote(k.schema.Table)
}
