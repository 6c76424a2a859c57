package table

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Plain reduces a column's value to one that can be compared: it follows pointers, asks Valuers and
// widens numbers. It takes only floats that are whole. NULL is nil. An expression, which only the
// database can evaluate, has no plain form.
func Plain(value any) (any, error) {
	for range 8 {
		v := reflect.ValueOf(value)
		switch value.(type) {
		case nil, plan.Bytes:
			return value, nil
		case clause.Expression, gorm.Valuer, *gorm.DB:
			return nil, fmt.Errorf("%w: a key or a name cannot be an expression (%T)", fault.ErrUnsupported, value)
		}
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, nil
		}
		if valuer, ok := value.(driver.Valuer); ok {
			next, err := valuer.Value()
			if err != nil {
				return nil, fmt.Errorf("gormplugin: reading a %T: %w", value, err)
			}
			value = next
			continue
		}
		switch v.Kind() {
		case reflect.Pointer:
			value = v.Elem().Interface()
			continue
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return v.Int(), nil
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			if u := v.Uint(); u > 1<<63-1 {
				return u, nil
			}
			return int64(v.Uint()), nil
		case reflect.Float32, reflect.Float64:
			// A greater one may stand for another number than was meant.
			least := float64(1 << 53)
			if v.Kind() == reflect.Float32 {
				least = 1 << 24
			}
			if n := v.Float(); n == math.Trunc(n) && math.Abs(n) < least {
				return int64(n), nil
			}
			return nil, fmt.Errorf("%w: a float may not hold %v exactly: state an integer or a text", fault.ErrUnsupported, value)
		case reflect.String:
			return v.String(), nil
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				return plan.Bytes(v.Bytes()), nil
			}
		}
		if v.Comparable() {
			return value, nil
		}
		break
	}
	return nil, fmt.Errorf("%w: a key or a name cannot be a %T", fault.ErrUnsupported, value)
}

// ValueIn returns a column's value in a struct of the model, in plain form, and as the database
// spells it.
func (t *Table) ValueIn(ctx context.Context, row reflect.Value, f *schema.Field) (any, error) {
	held, _ := f.ValueOf(ctx, row)
	value, err := Plain(held)
	return t.spell(f, value), err
}

// Written returns what to write for a stated value: the planned one, in plain form, if the model's
// type or the database changes the stated one to that. GORM writes the values of a map as they are,
// and a column of texts would keep a uuid.UUID in capitals.
func Written(stated, planned any) any {
	if plain, err := Plain(stated); err == nil && plain == planned {
		return stated
	}
	return planned
}

// Pointee returns the type of the value at the end of a chain of pointers, of any length; nil for
// nil.
func Pointee(value any) reflect.Type {
	typ := reflect.TypeOf(value)
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ
}

// TextOf returns a plain value as a text.
func TextOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case plan.Bytes:
		return string(v), true
	default:
		return "", false
	}
}

// A UUID column takes texts that differ in letter case and hyphens for one value, and CHAR(n) those
// that differ in blanks at the end. The plugin compares keys and trees itself, and makes paths and
// lock domains of them. So it spells them as the database does.

// LearnSpellings asks the database once for the types of a table's columns, if keys are texts.
func (t *Table) LearnSpellings(db *gorm.DB) error {
	if t.IsLeaf {
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

// spell returns the plain value of a key, a parent or a tree as the database spells it, as far as
// that is known, and any other column's value as it is.
func (t *Table) spell(f *schema.Field, value any) any {
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
