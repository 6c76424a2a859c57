package table

import (
	"slices"

	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
)

// roomOf returns how many characters a column can hold, as far as the model says so.
func roomOf(f *schema.Field) plan.Room {
	if f == nil || f.DataType != schema.String {
		return plan.Room{}
	}
	return plan.Room{Column: f.DBName, Size: f.Size}
}

// Where the model states no size, the plugin does not know how long a name or a path may be. The
// database then refuses what does not fit its column or, in PostgreSQL, an index, whose entries
// have 2704 bytes at most after compression.

// IsTooLong reports whether an error means that a name or a path of the table is too long.
func (t *Table) IsTooLong(err error) bool {
	if t.Dialect.TooLong == nil {
		return false
	}
	names, ok := t.Dialect.TooLong(err)
	if !ok || names == "" {
		return ok
	}
	return slices.ContainsFunc([]*schema.Field{t.Name, t.Path, t.IDs}, func(f *schema.Field) bool {
		return f != nil && f.DBName == names
	}) || slices.ContainsFunc(t.Leaves, func(leaf *Table) bool { return leaf.IsTooLong(err) })
}

// The sizes, in characters, of text columns whose fields state none, where the database needs one.
const (
	usualName = 255
	usualPath = 766
	// usualKey is what GORM gives a primary key that is a text.
	usualKey = 191
)

// limitTexts gives a size to texts whose fields state neither a size nor a type.
func (t *Table) limitTexts() {
	for field, size := range map[*schema.Field]int{t.Name: usualName, t.Path: usualPath, t.IDs: usualPath, t.Tree: usualKey, t.Parent: usualKey} {
		if field != nil && field.DataType == schema.String && field.Size == 0 && field.TagSettings["TYPE"] == "" {
			field.Size = size
		}
	}
	// Keys of bytes would be longblob, which no index can hold either.
	for _, field := range []*schema.Field{t.Tree, t.Parent, t.Key} {
		if field != nil && field.DataType == schema.Bytes && field.Size == 0 && field.TagSettings["TYPE"] == "" {
			field.Size = usualKey
		}
	}
}
