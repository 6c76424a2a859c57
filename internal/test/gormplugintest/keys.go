package gormplugintest

import (
	"database/sql/driver"
	"fmt"
	"math/rand/v2"

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

// The models of the tests of keys, with the same columns in several types.
type (
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

	uuidKeyed struct {
		ID     UUID   `gorm:"primaryKey"`
		Tree   UUID   `pathlock:"tree"`
		Parent *UUID  `pathlock:"parent"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
		IDs    string `pathlock:"idpath" gorm:"size:700"`
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
