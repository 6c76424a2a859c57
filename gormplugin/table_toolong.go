package gormplugin

import (
	"slices"

	"gorm.io/gorm/schema"
)

// Where the model states no size, the plugin does not know how long a name or path may be, and the database refuses what
// does not fit: a column of fewer characters, or in PostgreSQL an index, an entry of which has 2704 bytes after compression.

// isTooLong reports whether an error means that a name or a path of the table is too long.
func (t *table) isTooLong(err error) bool {
	if t.dialect.TooLong == nil {
		return false
	}
	names, ok := t.dialect.TooLong(err)
	if !ok || names == "" {
		return ok
	}
	return slices.ContainsFunc([]*schema.Field{t.label, t.path, t.ids}, func(f *schema.Field) bool {
		return f != nil && f.DBName == names
	})
}
