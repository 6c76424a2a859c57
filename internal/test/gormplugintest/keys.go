package gormplugintest

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
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

// number is a key with a type of its own.
type number uint32

// keyed is a row of a tree whose keys have a type.
type keyed[K any] struct {
	ID     K      `gorm:"primaryKey;size:36"`
	Tree   K      `pathlock:"tree" gorm:"size:36"`
	Parent *K     `pathlock:"parent" gorm:"size:36"`
	Name   string `pathlock:"name" gorm:"size:100"`
	Path   string `pathlock:"path" gorm:"size:500"`
}

// The models of the tests of keys, with the same columns in several types.
type (
	zeroKeyed struct {
		ID     number
		Tree   *number `pathlock:"tree"`
		Parent number  `pathlock:"parent"`
		Name   *string `pathlock:"name" gorm:"size:100"`
		Path   string  `pathlock:"path" gorm:"size:500"`
	}
	binaryKeyed keyed[Binary]
	vastKeyed   keyed[uint64]
	uuidKeyed   struct {
		ID     UUID   `gorm:"primaryKey"`
		Tree   UUID   `pathlock:"tree"`
		Parent *UUID  `pathlock:"parent"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
		IDs    string `pathlock:"idpath" gorm:"size:700"`
	}
)

// checkVastKeys writes and finds rows by whole numbers from 2^63 on. Columns of MySQL hold these.
// Elsewhere they are values that no column holds, and refused as such.
func checkVastKeys(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&vastKeyed{})})
	w.must(gormplugin.AutoMigrate(w.db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
	vast, want := uint64(1<<63+5), pathlock.FailureInvalid
	if w.db.Name() == "mysql" {
		want = ""
	}
	w.must(w.db.Create(&vastKeyed{ID: 7, Tree: 1, Name: "a"}).Error)
	resolve := func(r pathlock.Resolver) error {
		ctx := r.(preparer).Prepare(w.Context())
		return errors.Join(testerr.Of(r.Resolve(ctx, fmt.Sprint(vast))), testerr.Of(r.Resolve(ctx, fmt.Sprint(vast))))
	}
	for _, c := range []struct {
		what string
		run  func() error
	}{
		{"Create", func() error { return w.db.Create(&vastKeyed{ID: vast, Tree: 1, Name: "b"}).Error }},
		{"Create in a tree", func() error { return w.db.Create(&vastKeyed{Tree: vast, Name: "b"}).Error }},
		{"Create below", func() error { return w.db.Create(&vastKeyed{ID: vast + 9, Parent: &vast, Name: "b"}).Error }},
		{"Move", func() error { return gormplugin.Move(w.db, &vastKeyed{}, 7, gormplugin.Below(vast)) }},
		{"Rename", func() error { return gormplugin.Rename(w.db, &vastKeyed{}, fmt.Sprint(vast), "c") }},
		{"Resolver", func() error { return resolve(w.plugin.Resolver(&vastKeyed{})) }},
		{"ResolverBy", func() error { return resolve(w.plugin.ResolverBy(&vastKeyed{}, "id")) }},
		{"Delete", func() error { return testerr.Of(gormplugin.Delete(w.db, &vastKeyed{}, vast)) }},
	} {
		if err := c.run(); (err == nil) != (want == "") || w.plugin.FailureOf(err) != want {
			t.Errorf("%s: got the error %v, want %q", c.what, err, want)
		}
	}
	for i, found := range w.plugin.Resolver(&vastKeyed{}).(preparer).ResolveAll(w.Context(), []string{"x", fmt.Sprint(vast), "7"}) {
		want := []pathlock.Failure{pathlock.FailureInvalid, cmp.Or(want, pathlock.FailureNotFound), ""}[i]
		if got := w.plugin.FailureOf(found.Err); got != want && w.db.Name() != "mysql" {
			t.Errorf("of several ids, number %d: %v, want %q", i, found.Err, want)
		}
	}
	if want == "" {
		w.fails(w.db.Take(&vastKeyed{}, 7).Error, gorm.ErrRecordNotFound) // it was below
	}
}

// someBytes returns a key that is no valid text.
func someBytes() (b [16]byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	b[0] = 0xff
	return b
}
