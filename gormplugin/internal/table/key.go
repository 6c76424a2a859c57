package table

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// KeyOf returns an id in plain form, see [Plain], and as the database spells it.
func (t *Table) KeyOf(db *gorm.DB, id any) (any, error) {
	if err := t.LearnSpellings(db); err != nil {
		return nil, err
	}
	key, err := Plain(id)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %w", pathlock.ErrInvalidID, shown.Inside(t.TableName), err)
	}
	text, ok := key.(string)
	if !ok || Pointee(id) == t.Key.IndirectFieldType || !parses(t.Key) {
		return t.spell(t.Key, key), nil
	}
	return t.parse(t.Key, text)
}

// parses reports whether a text is not what the column holds, or may be another spelling of that.
func parses(f *schema.Field) bool {
	return readsTexts(f) || isBytes(f) || isText(f) && f.IndirectFieldType.Kind() != reflect.String
}

// readsTexts reports whether a column holds numbers, or values that read a text themselves.
func readsTexts(f *schema.Field) bool {
	_, unmarshals := reflect.New(f.IndirectFieldType).Interface().(encoding.TextUnmarshaler)
	kind := f.IndirectFieldType.Kind()
	return unmarshals || reflect.Int <= kind && kind <= reflect.Uint64
}

// checkTextForm refuses a column whose values no text, such as an id in a URL, can state. A type
// that writes texts scans them, too.
func checkTextForm(f *schema.Field) error {
	if readsTexts(f) || isText(f) {
		return nil
	}
	return fmt.Errorf("a %v has no text form: give the type a method UnmarshalText", f.IndirectFieldType)
}

// parse reads the text form of a column's value, as the column's type does it.
func (t *Table) parse(f *schema.Field, text string) (any, error) {
	invalid := func(err error) error {
		if number, ok := errors.AsType[*strconv.NumError](err); ok {
			err = number.Err
		}
		return fmt.Errorf("%w: %w: %q: %w", pathlock.ErrInvalidID, shown.Inside(t.TableName), shown.Cut(text), err)
	}
	target := reflect.New(f.IndirectFieldType)
	held := func(err error) (any, error) {
		if err != nil {
			return nil, invalid(err)
		}
		key, err := Plain(target.Elem().Interface())
		return t.spell(f, key), err
	}
	if u, ok := target.Interface().(encoding.TextUnmarshaler); ok {
		return held(u.UnmarshalText([]byte(text)))
	}
	switch bits := target.Elem().Type(); bits.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, bits.Bits())
		if err != nil {
			return nil, invalid(err)
		}
		return n, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, bits.Bits())
		if err != nil {
			return nil, invalid(err)
		}
		return Plain(n)
	case reflect.String:
		if text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, invalid(fmt.Errorf("not a text"))
		}
		return t.spell(f, text), nil
	}
	err := checkTextForm(f)
	if scanner, ok := target.Interface().(sql.Scanner); ok && err == nil {
		err = scanner.Scan(text)
	}
	return held(err)
}

// ParentKey returns the id of a parent in plain form, nil for the top. A zero value is the id of no
// row: it is more likely to be a mistake than to mean the top.
func (t *Table) ParentKey(db *gorm.DB, parent any) (any, error) {
	key, err := t.Above.KeyOf(db, parent)
	if err == nil && key != nil && t.isNoParent(key) {
		err = plan.NotFound("%s, as a parent", t.Above.RowName(parent))
	}
	return key, err
}

// A row without a parent has NULL in its parent column, or the zero value of the column's type: 0,
// "", a nil UUID. No row has such a key, since GORM treats it as a missing one. Reads treat both
// alike. Writes use what [Table.ParentValue] returns, whatever the caller has stated.

// isNoParent reports whether the parent column's value, in plain form, is the id of no row.
func (t *Table) isNoParent(value any) bool {
	return treetable.IsNoParent(value) || slices.Contains(t.zeroKeys, value)
}

// findZeroKeys notes the plain forms of the zero values of the key's and the parent's type: a type
// of the caller's may have a form of its own. It notes what else the tag says of rows at the top.
func (t *Table) findZeroKeys() (err error) {
	for _, f := range []*schema.Field{t.Parent, t.Above.Key} {
		if zero, err := Plain(reflect.Zero(f.IndirectFieldType).Interface()); err == nil && zero != nil {
			t.zeroKeys = append(t.zeroKeys, zero)
		}
	}
	text := t.described.ParentTop
	if text == "" {
		return nil
	}
	if t.top, err = t.Convert(context.Background(), t.Parent, text); err == nil && (t.IsLeaf || t.isNoParent(t.top)) {
		err = errors.New("the option is for a value other than NULL and zero, in a model that is no leaf")
	}
	if err != nil {
		return fmt.Errorf("gormplugin: %s: %q as the parent of rows at the top: %w", t.Schema.Name, text, err)
	}
	t.zeroKeys = append(t.zeroKeys, t.top)
	return nil
}

// ParentOrNil returns the parent that a plain value of the parent column means, nil for none.
func (t *Table) ParentOrNil(value any) any {
	if t.isNoParent(value) {
		return nil
	}
	return value
}

// ParentValue is what is written to the parent column for a parent. For nil, which is none, that is
// what the tag says, or else NULL if the field can hold it, or else the zero value.
func (t *Table) ParentValue(parent any) any {
	switch f := t.Parent; {
	case parent != nil:
		return parent
	case t.top != nil:
		return t.top
	case f.NotNull:
		zero := reflect.Zero(t.Above.Key.IndirectFieldType)
		if zero.Kind() == reflect.Slice {
			zero = reflect.MakeSlice(zero.Type(), 0, 0)
		}
		return zero.Interface()
	case holdsNull(f):
		return nil
	default:
		return reflect.Zero(f.FieldType).Interface()
	}
}

// AtTop is the condition that a row has no parent, however old code has written that.
func (t *Table) AtTop() clause.Expression {
	column, kind := Column(t.Parent), dialect.KindOf(cmp.Or(t.keyType(), string(t.Key.DataType)))
	return AnyOf([]clause.Expression{
		clause.Eq{Column: column, Value: t.ParentValue(nil)},
		clause.Expr{SQL: t.Dialect.NoParentSQLOfKind(t.Dialect.QuotePart(column.Name), kind)},
	})
}

// holdsNull reports whether a field can hold NULL.
func holdsNull(f *schema.Field) bool {
	zero := reflect.Zero(f.FieldType)
	switch zero.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Interface:
		return true
	}
	valuer, ok := zero.Interface().(driver.Valuer)
	if !ok {
		return false
	}
	value, err := valuer.Value()
	return err == nil && value == nil
}

// ClearParents gives the model's rows to which an UPDATE has just assigned a zero parent the value
// of [Table.ParentValue].
func (t *Table) ClearParents(ctx context.Context, rows reflect.Value) error {
	none := t.ParentValue(nil)
	return t.EachRow(rows, func(row reflect.Value) error { return SetAnew(ctx, t.Parent, row, none) })
}

// SingleTree is the id of the only tree of a table without a tree column, "" for others.
func (t *Table) SingleTree() string { return t.described.SingleTree }

// treeBy returns the tree of a row: the table's only one, or what get returns of its column.
func (t *Table) treeBy(get func(*schema.Field) any) any {
	if t.Tree == nil {
		return t.Sole
	}
	return get(t.Tree)
}

// InTree is the condition that a row is in one of the trees. It holds for every row of a table
// without a tree column.
func (t *Table) InTree(trees ...any) clause.Expression {
	if t.Tree == nil {
		return clause.Expr{SQL: "1 = 1"}
	}
	return OneOf(t.Tree, trees)
}
