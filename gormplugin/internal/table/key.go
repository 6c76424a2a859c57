package table

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// KeyOf returns an id in plain form, see [Plain], and as the database spells it.
func (t *Table) KeyOf(db *gorm.DB, id any) (any, error) {
	if err := t.LearnSpellings(db); err != nil {
		return nil, err
	}
	key, err := Plain(id)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", pathlock.ErrInvalidID, t.TableName, err)
	}
	text, ok := key.(string)
	if !ok || Pointee(id) == t.Key.IndirectFieldType || !t.parsesKeys() {
		return t.Spell(t.Key, key), nil
	}
	return t.ParseKey(text)
}

// KeyOfRow returns the key that a struct of the model holds, as [Table.KeyOf] does.
func (t *Table) KeyOfRow(ctx context.Context, row reflect.Value) (any, error) {
	value, _ := t.Key.ValueOf(ctx, row)
	key, err := Plain(value)
	return t.Spell(t.Key, key), err
}

// parsesKeys reports whether the text form of a key differs from what the column holds.
func (t *Table) parsesKeys() bool {
	typ := t.Key.IndirectFieldType
	if _, ok := reflect.New(typ).Interface().(encoding.TextUnmarshaler); ok {
		return true
	}
	return reflect.Int <= typ.Kind() && typ.Kind() <= reflect.Uint64
}

// ParseKey reads the text form of a primary key, as the key's type does it.
func (t *Table) ParseKey(text string) (any, error) {
	invalid := func(err error) error {
		if number, ok := errors.AsType[*strconv.NumError](err); ok {
			err = number.Err
		}
		return fmt.Errorf("%w: %s: %q: %w", pathlock.ErrInvalidID, t.TableName, shown.Cut(text), err)
	}
	target := reflect.New(t.Key.IndirectFieldType)
	if u, ok := target.Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return nil, invalid(err)
		}
		return Plain(target.Elem().Interface())
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
		return t.Spell(t.Key, text), nil
	default:
		return nil, invalid(fmt.Errorf("a %v has no text form", bits))
	}
}

// ParentKey returns the id of a parent in plain form, nil for the top. A zero value is the id of no
// row: it is more likely to be a mistake than to mean the top.
func (t *Table) ParentKey(db *gorm.DB, parent any) (any, error) {
	key, err := t.Above.KeyOf(db, parent)
	if err == nil && key != nil && t.isNoParent(key) {
		err = fmt.Errorf("%w: %s, as a parent", pathlock.ErrNotFound, t.Above.RowName(parent))
	}
	return key, err
}
