package table

import (
	"database/sql"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// A UUID column takes texts that differ in letter case and hyphens for one value, and CHAR(n) those
// that differ in blanks at the end. The plugin compares keys and trees itself, and makes paths and
// lock domains of them. So it spells them as the database does.

// LearnSpellings asks the database once for the types of a table's columns, if keys are texts.
func (t *Table) LearnSpellings(db *gorm.DB) error {
	if t.IsLeaf() {
		if err := t.Above.LearnSpellings(db); err != nil {
			return err
		}
	}
	if t.types.Load() != nil || t.Dialect.ColumnTypes == "" || db.DryRun || !slices.ContainsFunc([]*schema.Field{t.Key, t.Parent, t.Tree}, holdsText) {
		return nil
	}
	inSchema, name := schemaOf(t.TableName)
	types := make(map[string]string)
	err := t.Source(db).Add(t.Dialect.ColumnTypes, inSchema, name).Query(func(rows *sql.Rows) error {
		var column, typ string
		err := rows.Scan(&column, &typ)
		types[column] = typ
		return err
	})
	if err == nil && len(types) > 0 {
		t.types.Store(&types)
	}
	return err
}

// holdsText reports whether a field may hold a text: a string, or a struct such as NullString.
func holdsText(f *schema.Field) bool {
	return f != nil && (f.IndirectFieldType.Kind() == reflect.String || f.IndirectFieldType.Kind() == reflect.Struct)
}

// Spell returns the plain value of a key, a parent or a tree as the database spells it, as far as
// that is known, and any other column's value as it is.
func (t *Table) Spell(f *schema.Field, value any) any {
	text, ok := value.(string)
	types := t.types.Load()
	if !ok || types == nil || f != t.Key && f != t.Parent && f != t.Tree {
		return value
	}
	switch (*types)[f.DBName] {
	case "char", "bpchar":
		return strings.TrimRight(text, " ")
	case "uuid":
		digits := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"), "-", ""))
		if len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == "" {
			return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
		}
	}
	return text
}
