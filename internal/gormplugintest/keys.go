package gormplugintest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Binary is a key of bytes: BINARY(16) in MySQL.
type Binary [16]byte

// Value implements [driver.Valuer].
func (b Binary) Value() (driver.Value, error) { return b[:], nil }

// Scan implements [sql.Scanner].
func (b *Binary) Scan(value any) error {
	bytes, ok := value.([]byte)
	if !ok || len(bytes) != len(b) {
		return fmt.Errorf("a key cannot be %v", value)
	}
	copy(b[:], bytes)
	return nil
}

// GormDBDataType says what the column is, to GORM's migrator.
func (Binary) GormDBDataType(db *gorm.DB, _ *schema.Field) string {
	return map[string]string{"mysql": "binary(16)", "postgres": "bytea", "sqlite": "blob"}[db.Name()]
}

// Textual is a key of bytes that is stored as a text, as most packages for UUIDs do it.
type Textual [16]byte

// Value implements [driver.Valuer].
func (t Textual) Value() (driver.Value, error) { return hex.EncodeToString(t[:]), nil }

// Scan implements [sql.Scanner].
func (t *Textual) Scan(value any) error {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	}
	if n, err := hex.Decode(t[:], []byte(text)); err != nil || n != len(t) {
		return fmt.Errorf("a key cannot be %v", value)
	}
	return nil
}

// GormDataType implements [schema.GormDataTypeInterface].
func (Textual) GormDataType() string { return "char(32)" }

// number is a key with a type of its own.
type number int32

// The models of the tests of keys, with the same columns in several types.
type (
	unsignedKeyed struct {
		ID     uint64
		Tree   uint16  `pathlock:"tree"`
		Parent *uint64 `pathlock:"parent"`
		Name   string  `pathlock:"name" gorm:"size:100"`
		Path   string  `pathlock:"path" gorm:"size:500"`
	}
	textKeyed struct {
		ID     string         `gorm:"primaryKey;size:36"`
		Tree   string         `pathlock:"tree" gorm:"size:36"`
		Parent sql.NullString `pathlock:"parent" gorm:"size:36"`
		Name   string         `pathlock:"name" gorm:"size:100"`
		Path   string         `pathlock:"path" gorm:"size:500"`
	}
	nullKeyed struct {
		ID     int64
		Tree   sql.NullInt64  `pathlock:"tree"`
		Parent sql.NullInt64  `pathlock:"parent"`
		Name   sql.NullString `pathlock:"name" gorm:"size:100"`
		Path   string         `pathlock:"path" gorm:"size:500"`
	}
	zeroKeyed struct {
		ID     number
		Tree   *number `pathlock:"tree"`
		Parent number  `pathlock:"parent"`
		Name   *string `pathlock:"name" gorm:"size:100"`
		Path   string  `pathlock:"path" gorm:"size:500"`
	}
	binaryKeyed struct {
		ID     Binary  `gorm:"primaryKey"`
		Tree   Binary  `pathlock:"tree"`
		Parent *Binary `pathlock:"parent"`
		Name   string  `pathlock:"name" gorm:"size:100"`
		Path   string  `pathlock:"path" gorm:"size:500"`
	}
	textualKeyed struct {
		ID     Textual  `gorm:"primaryKey"`
		Tree   Textual  `pathlock:"tree"`
		Parent *Textual `pathlock:"parent"`
		Name   string   `pathlock:"name" gorm:"size:100"`
		Path   string   `pathlock:"path" gorm:"size:500"`
	}
)

// someBytes returns a key that is no valid text.
func someBytes() (b [16]byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	b[0] = 0xff
	return b
}

// checkKeys writes a tree with every type of key, tree and parent.
func checkKeys(t *testing.T, d Database) {
	for _, c := range []struct {
		name  string
		model any
		// key makes keys, and tree the value of the tree column.
		key  func() any
		tree any
		// none is what a row at the top has as its parent, beside NULL.
		none any
		// other spells a key as the model's type reads it, and the database does not; nil if there
		// is no such spelling.
		other func(key any) any
	}{
		{"unsigned, beyond the signed", unsignedKeyed{}, func() any { return 1<<63 - 1 - rand.Uint64N(1<<40) }, uint16(65535), nil, nil},
		{"texts and NullString", textKeyed{}, func() any { return fmt.Sprintf("%032x", rand.Uint64()) }, "a tree", sql.NullString{}, nil},
		{"NullInt64", nullKeyed{}, func() any { return rand.Int64() }, int64(5), sql.NullInt64{}, nil},
		{"a type of its own, 0 at the top", zeroKeyed{}, func() any { return number(rand.Int32()) }, number(5), 0, nil},
		{"bytes", binaryKeyed{}, func() any { return Binary(someBytes()) }, Binary(someBytes()), nil, nil},
		{"bytes stored as a text", textualKeyed{}, func() any { return Textual(someBytes()) }, Textual(someBytes()), nil, func(key any) any {
			b := key.(Textual)
			return strings.ToUpper(hex.EncodeToString(b[:]))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKeyed(t, d, c.model)
			k.none = c.none
			top, below, deep, other := c.key(), c.key(), c.key(), c.key()
			k.must(k.db.Create(k.row(top, c.tree, nil, "a")).Error)
			k.must(k.db.Create(k.rows(k.row(deep, nil, below, "c"), k.row(below, nil, top, "b"), k.row(other, c.tree, nil, "d"))).Error)
			k.has("/a /a/b /a/b/c /d")
			k.must(k.db.Model(k.row(top, nil, nil, "")).Update("name", "x").Error)
			k.has("/d /x /x/b /x/b/c")
			k.must(k.db.Model(k.new()).Where("id = ?", below).Update("parent", other).Error)
			k.has("/d /d/b /d/b/c /x")
			k.must(k.db.Save(k.row(below, c.tree, top, "y")).Error)
			k.has("/d /x /x/y /x/y/c")
			same, path := k.row(below, c.tree, top, "y"), k.schema.FieldsByDBName["path"]
			k.must(path.Set(t.Context(), reflect.ValueOf(same).Elem(), "/was/y"))
			k.must(k.db.Save(same).Error)
			if is, _ := path.ValueOf(t.Context(), reflect.ValueOf(same).Elem()); is != "/x/y" {
				t.Errorf("a Save of the same row leaves the struct with the path %q", is)
			}
			if err := k.db.Model(k.row(top, nil, nil, "")).Update("parent", deep).Error; !errors.Is(err, gormplugin.ErrWouldCycle) {
				t.Errorf("a cycle: got %v", err)
			}
			if err := k.db.Create(k.row(c.key(), nil, c.key(), "z")).Error; !errors.Is(err, pathlock.ErrNotFound) {
				t.Errorf("a parent that is not there: got %v", err)
			}
			k.must(k.db.Model(k.row(below, nil, nil, "")).Updates(map[string]any{"parent": k.none}).Error)
			k.has("/d /x /y /y/c")
			k.must(gormplugin.Rename(k.db, k.new(), below, "z"))
			k.has("/d /x /z /z/c")
			k.must(gormplugin.Rename(k.db, k.new(), below, "y"))
			k.must(k.db.Transaction(func(tx *gorm.DB) error {
				at, err := gormplugin.LockSubtrees(tx, k.new(), below)
				if err == nil && at[0].Path.String() != "/y" {
					t.Errorf("it is at %v", at[0])
				}
				return err
			}))
			k.must(k.db.Delete(k.row(below, nil, nil, "")).Error)
			k.has("/d /x")
			if c.other == nil {
				return
			}
			k.must(k.db.Model(k.new()).Create(map[string]any{"id": c.other(deep), "Tree": c.other(c.tree), "parent": c.other(top), "name": "m"}).Error)
			k.has("/d /x /x/m")
			k.must(k.db.Model(k.new()).Where("id = ?", deep).Updates(map[string]any{"parent": c.other(other)}).Error)
			k.has("/d /d/m /x")
			k.must(k.db.Model(k.new()).Clauses(clause.OnConflict{UpdateAll: true}).Create(map[string]any{"id": c.other(deep), "Tree": c.other(c.tree), "parent": c.other(other), "name": "m"}).Error)
			k.has("/d /d/m /x")
		})
	}
}

// keyed is the table of one of the models, with a database and a plugin of its own.
type keyed struct {
	*testing.T
	db     *gorm.DB
	schema *schema.Schema
	none   any
	// live is the condition on rows that are not deleted.
	live string
}

// newKeyed makes the table.
func newKeyed(t *testing.T, d Database, model any) *keyed {
	t.Helper()
	k := &keyed{T: t, db: open(t, d, settings{}, new(trace))}
	if d.TableOptions != "" {
		k.must(k.db.Set("gorm:table_options", d.TableOptions).AutoMigrate(model))
	} else {
		k.must(k.db.AutoMigrate(model))
	}
	k.must(k.db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(model))))
	stmt := &gorm.Statement{DB: k.db}
	k.must(stmt.Parse(model))
	k.schema = stmt.Schema
	t.Cleanup(func() { k.must(k.db.Migrator().DropTable(model)) })
	return k
}

// must fails the test on an error.
func (k *keyed) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// new returns a pointer to an empty struct of the model.
func (k *keyed) new() any { return reflect.New(k.schema.ModelType).Interface() }

// row returns a pointer to a struct of the model; what is nil is left empty.
func (k *keyed) row(id, tree, parent any, name string) any {
	k.Helper()
	row := reflect.New(k.schema.ModelType)
	for column, value := range map[string]any{"id": id, "tree": tree, "parent": parent, "name": name} {
		if value != nil && value != "" {
			k.must(k.schema.FieldsByDBName[column].Set(context.Background(), row.Elem(), value))
		}
	}
	return row.Interface()
}

// rows returns a slice of what row has returned.
func (k *keyed) rows(rows ...any) any {
	slice := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(k.schema.ModelType)), 0, len(rows))
	for _, row := range rows {
		slice = reflect.Append(slice, reflect.ValueOf(row))
	}
	return slice.Interface()
}

// has checks the whole table by the independent reader.
func (k *keyed) has(want string) {
	k.Helper()
	stmt := &gorm.Statement{DB: k.db}
	table := treeTable{name: stmt.Quote(k.schema.Table), key: "id", tree: "1", parent: "parent", label: "name", path: "path", none: "0", live: k.live}
	paths, found := table.problems(k.db, 1)
	for _, problem := range found {
		k.Error(problem)
	}
	if got := strings.Join(paths, " "); got != want {
		k.Fatalf("the tree is\n\t%s\nwant\n\t%s", got, want)
	}
}
