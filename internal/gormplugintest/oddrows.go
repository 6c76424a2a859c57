package gormplugintest

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/fsck/gormfsck"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/treerow"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// binaryKey is a key of 16 bytes, as UUIDs often are. Its zero value is that of no row.
type binaryKey [16]byte

// GormDBDataType implements GORM's interface of that name.
func (binaryKey) GormDBDataType(db *gorm.DB, _ *schema.Field) string {
	return map[string]string{"mysql": "binary(16)", "postgres": "bytea", "sqlite": "blob"}[db.Name()]
}

// Value implements [driver.Valuer].
func (k binaryKey) Value() (driver.Value, error) { return k[:], nil }

// Scan implements [sql.Scanner].
func (k *binaryKey) Scan(value any) error {
	switch b := value.(type) {
	case []byte:
		copy(k[:], b)
	case string:
		copy(k[:], b)
	case nil:
		*k = binaryKey{}
	default:
		return fmt.Errorf("a key cannot be a %T", value)
	}
	return nil
}

// OddNumber says 0 for no parent.
type OddNumber struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID int64  `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
}

// OddPointer says NULL for no parent, and reads 0.
type OddPointer struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Deleted  gorm.DeletedAt
}

// OddText has UUIDs as texts.
type OddText struct {
	ID       string `gorm:"primaryKey;size:36"`
	TreeID   int64  `pathlock:"tree"`
	ParentID string `pathlock:"parent" gorm:"size:36"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
}

// OddBinary has UUIDs as bytes.
type OddBinary struct {
	ID       binaryKey `gorm:"primaryKey"`
	TreeID   int64     `pathlock:"tree"`
	ParentID binaryKey `pathlock:"parent"`
	Name     string    `pathlock:"name" gorm:"size:100"`
	Path     string    `pathlock:"path" gorm:"size:500"`
}

// oddTable is a sound tree whose rows are at the top in unusual ways.
type oddTable struct {
	name, table string
	model       any
	// tops are SQL literals of a parent that is none, and keys of as many rows that have one of
	// them each.
	tops, keys []string
	// child is the key of a row below the first.
	child string
	// renamed is the key of the first row, as the model has it.
	renamed any
	// another is a new row at the top that has a name.
	another func(name string) any
}

// oddTables are all of them in a dialect.
func oddTables(dialect string) []oddTable {
	bytes := func(last int) string {
		digits := fmt.Sprintf("%032x", last)
		if dialect == "postgres" {
			return `'\x` + digits + "'"
		}
		return "x'" + digits + "'"
	}
	uuid := func(last int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", last) }
	return []oddTable{
		{
			name: "0 beside NULL", table: "odd_numbers", model: &OddNumber{}, tops: []string{"0", "NULL"}, keys: []string{"1", "2"}, child: "9", renamed: int64(1),
			another: func(name string) any { return &OddNumber{ID: 99, TreeID: 1, Name: name} },
		},
		{
			name: "NULL beside 0", table: "odd_pointers", model: &OddPointer{}, tops: []string{"0", "NULL"}, keys: []string{"1", "2"}, child: "9", renamed: int64(1),
			another: func(name string) any { return &OddPointer{ID: 99, TreeID: 1, Name: name} },
		},
		{
			name: "the nil UUID, the empty text and NULL", table: "odd_texts", model: &OddText{},
			tops: []string{"'" + treerow.NilUUID + "'", "''", "NULL"}, keys: []string{"'" + uuid(1) + "'", "'" + uuid(2) + "'", "'" + uuid(3) + "'"}, child: "'" + uuid(9) + "'", renamed: uuid(1),
			another: func(name string) any { return &OddText{ID: uuid(99), TreeID: 1, Name: name} },
		},
		{
			name: "zero bytes and NULL", table: "odd_binaries", model: &OddBinary{},
			tops: []string{bytes(0), "NULL"}, keys: []string{bytes(1), bytes(2)}, child: bytes(9), renamed: binaryKey{15: 1},
			another: func(name string) any { return &OddBinary{ID: binaryKey{15: 99}, TreeID: 1, Name: name} },
		},
	}
}

// checkOddRows has the plugin, [gormplugin.Verify], [gormplugin.AutoMigrate] and fsck look at the
// same odd rows. None of them takes for damage what another one writes.
func checkOddRows(t *testing.T, d Database) {
	for _, odd := range oddTables(newSchemaWorld(t, d).db.Name()) {
		t.Run(odd.name, func(t *testing.T) {
			pool := sql.OpenDB(d.Connector)
			t.Cleanup(func() { _ = pool.Close() })
			db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
			w := &schemaWorld{t, db}
			w.must(err)
			w.must(db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(odd.model))))
			w.must(gormplugin.AutoMigrate(db))
			for i, top := range odd.tops {
				w.exec(fmt.Sprintf("INSERT INTO %s (id, tree_id, parent_id, name, path) VALUES (%s, 1, %s, 'top%d', '/top%d')", odd.table, odd.keys[i], top, i, i))
			}
			w.exec(fmt.Sprintf("INSERT INTO %s (id, tree_id, parent_id, name, path) VALUES (%s, 1, %s, 'child', '/top0/child')", odd.table, odd.child, odd.keys[0]))

			sound := func(rows int64) {
				t.Helper()
				checker, err := gormfsck.New(t.Context(), db, odd.model)
				w.must(err)
				summary, err := checker.Check(t.Context(), fsck.Options{}, func(p fsck.Problem) error {
					t.Errorf("fsck: %v", p)
					return nil
				})
				w.must(err)
				if summary.Rows != rows {
					t.Errorf("fsck has looked at %d rows, want %d", summary.Rows, rows)
				}
				w.must(gormplugin.AutoMigrate(db))
				if found := w.findings(); found != nil {
					t.Errorf("Verify: %v", found)
				}
			}
			rows := int64(len(odd.tops)) + 1
			sound(rows)
			w.must(gormplugin.Rename(db, odd.model, odd.renamed, "renamed"))
			var paths []string
			w.must(db.Table(odd.table).Order("path").Pluck("path", &paths).Error)
			if !slices.Contains(paths, "/renamed/child") {
				t.Errorf("after a rename the paths are %q", paths)
			}
			for _, taken := range append([]string{"renamed"}, []string{"top1", "top2"}[:len(odd.tops)-1]...) {
				if err := db.Create(odd.another(taken)).Error; !errors.Is(err, gormplugin.ErrNameTaken) {
					t.Errorf("a second %q at the top: %v, want %v", taken, err, gormplugin.ErrNameTaken)
				}
			}
			w.must(db.Create(odd.another("free")).Error)
			sound(rows + 1)
		})
	}
}
