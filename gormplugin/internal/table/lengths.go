package table

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm/schema"
)

// checkLengths refuses a name or a path that its column cannot hold: outside strict mode, MySQL
// would silently cut it off.
func (t *Table) checkLengths(n *Node) error {
	if err := Fits(t.Name, utf8.RuneCountInString(n.Name), n.Name); err != nil {
		return err
	}
	if t.IsLeaf() {
		return nil
	}
	for f, path := range t.PathsIn(n) {
		length := utf8.RuneCountInString(path)
		if lacksID(path) {
			length += longestID
		}
		if err := Fits(f, length, path); err != nil {
			return err
		}
	}
	return nil
}

// CheckDepth refuses a place that is too deep.
func (t *Table) CheckDepth(path pathlock.Path) error {
	if path.Depth() <= t.MaxDepth {
		return nil
	}
	return &fault.TooDeepError{Table: t.TableName, Path: path.Column(), Depth: path.Depth(), Limit: t.MaxDepth}
}

// Fits compares a length in characters with the column's size, where the model states one.
func Fits(f *schema.Field, length int, what string) error {
	if f.Size > 0 && f.DataType == schema.String && length > f.Size {
		const shown = 80
		return fmt.Errorf("%w: %q has room for %d characters, %.*q… needs %d", fault.ErrPathTooLong, f.DBName, f.Size, shown, what, length)
	}
	return nil
}

// longestID is how many characters a key that the database gives may need.
const longestID = 20

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
	})
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
