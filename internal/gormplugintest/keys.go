package gormplugintest

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
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

	requiredKeyed struct {
		ID     int64
		Tree   int64  `pathlock:"tree"`
		Parent *int64 `pathlock:"parent" gorm:"not null"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
	}

	uuidKeyed struct {
		ID     UUID   `gorm:"primaryKey"`
		Tree   UUID   `pathlock:"tree"`
		Parent *UUID  `pathlock:"parent"`
		Name   string `pathlock:"name" gorm:"size:100"`
		Path   string `pathlock:"path" gorm:"size:500"`
		IDs    string `pathlock:"idpath" gorm:"size:700"`
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
