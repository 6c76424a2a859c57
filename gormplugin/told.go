package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// findTold returns the field of a leaf's model, one that is no column, that is to be told where the
// leaf is: the one that is named, or else tagged; nil if there is none.
func findTold(parsed *schema.Schema, named string) (*schema.Field, error) {
	var found *schema.Field
	for _, f := range parsed.Fields {
		if f.DBName != "" || f.Name != named && (named != "" || f.Tag.Get(tagName) != "path") {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("gormplugin: %s: two fields, %s and %s, have the tag `%s:%q`", parsed.Name, found.Name, f.Name, tagName, "path")
		}
		if f.IndirectFieldType.Kind() != reflect.String {
			return nil, fmt.Errorf("gormplugin: %s: %s cannot be told a path: it has to be a string, not a %v", parsed.Name, f.Name, f.FieldType)
		}
		found = f
	}
	return found, nil
}

// tell writes a leaf's path into a struct of its model. One whose path is not known, as its parent
// is deleted, is left alone.
func (t *table) tell(ctx context.Context, row reflect.Value, path string) error {
	if t.told == nil || path == "" {
		return nil
	}
	return t.told.Set(ctx, row, path)
}
