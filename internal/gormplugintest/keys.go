package gormplugintest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
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
		Tree   uint64  `pathlock:"tree"`
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

// keyed is the table of one of the models, with a database and a plugin of its own.
type keyed struct {
	*testing.T
	db     *gorm.DB
	schema *schema.Schema
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
