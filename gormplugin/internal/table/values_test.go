package table

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// What the state machine of internal/test/gormplugintest and the numbers below do not show: a list
// cannot be compared.
func TestPlain(t *testing.T) {
	testerr.Is(t, "a list", testerr.Of(Plain([]int{7})), fault.ErrUnsupported)
}

func TestConvert_numbers(t *testing.T) {
	type row struct {
		ID      int64
		Small   int8
		Count   uint16
		Pointer *int64
		Text    string
		Label   *string
		Null    sql.NullInt64
		Maybe   sql.NullString
		Gone    bool
	}
	parsed, err := schema.Parse(&row{}, new(sync.Map), schema.NamingStrategy{})
	testerr.Must(t, err)
	table := &Table{Shape: plan.Shape{TableName: "rows"}, Schema: parsed}
	number := []string{"ID", "Small", "Count", "Pointer", "Null"}
	for _, c := range []struct {
		fields []string
		value  any
		want   any // nil where it is refused
	}{
		{number, 5, int64(5)}, {number, 5.0, int64(5)}, {number, float32(5), int64(5)}, {number, uint8(5), int64(5)},
		{number, "5", int64(5)}, {number, json.Number("5"), int64(5)}, {number, new(5.0), int64(5)},
		{number, 5.9, nil}, {number, "5.9", nil}, {number, json.Number("5.9"), nil}, {number, "x", nil}, {number, math.Inf(1), nil}, {number, math.NaN(), nil},
		{[]string{"ID", "Pointer"}, float64(1 << 53), nil}, {[]string{"ID", "Pointer"}, float32(1 << 24), nil}, {[]string{"ID", "Pointer"}, int64(1<<53 + 1), int64(1<<53 + 1)},
		{[]string{"Small"}, 300, nil}, {[]string{"Small"}, "300", nil}, {[]string{"Count"}, -1, nil}, {[]string{"Count"}, 1 << 16, nil},
		{[]string{"ID"}, uint64(1 << 63), nil},
		{[]string{"Text", "Label", "Maybe"}, 65, "65"}, {[]string{"Text", "Label", "Maybe"}, 65.0, "65"}, {[]string{"Text", "Label", "Maybe"}, 4.6, nil},
		{[]string{"Text", "Label", "Maybe"}, json.Number("4.6"), "4.6"},
		{[]string{"Gone"}, 1, true}, {[]string{"Gone"}, 0.4, nil},
	} {
		for _, name := range c.fields {
			got, err := table.Convert(t.Context(), parsed.LookUpField(name), c.value)
			if got != c.want || (err == nil) != (c.want != nil) {
				t.Errorf("%s = %#v: got %#v, %v; want %#v", name, c.value, got, err, c.want)
			}
			if text := fmt.Sprint(reflect.Indirect(reflect.ValueOf(c.value))); err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s = %s: the error does not name the value: %v", name, text, err)
			}
		}
	}
}

type (
	// texted and binary are keys whose types do not unmarshal texts, as those of gorm.io/datatypes.
	texted [2]byte
	binary texted
)

func (k texted) Value() (driver.Value, error) { return hex.EncodeToString(k[:]), nil }

func (k *texted) Scan(value any) error {
	_, err := hex.Decode(k[:], []byte(value.(string)))
	return err
}

func (k binary) Value() (driver.Value, error) { return k[:], nil }
func (k *binary) Scan(any) error              { return nil }

// A text states a key whose type scans texts. It is no key where the column holds bytes.
func TestKeyOf_texts(t *testing.T) {
	type row struct {
		Texted texted
		Binary binary
	}
	parsed, err := schema.Parse(&row{}, new(sync.Map), schema.NamingStrategy{})
	testerr.Must(t, err)
	db := &gorm.DB{Config: &gorm.Config{}}
	for _, c := range []struct {
		column    string
		id, want  any // nil where it is refused
		byRequest bool
	}{
		{"Texted", "ABCD", "abcd", true}, {"Texted", texted{0xab, 0xcd}, "abcd", true}, {"Texted", "xyz", nil, true},
		{"Binary", binary{1, 2}, plan.Bytes("\x01\x02"), false}, {"Binary", "0102", nil, false},
	} {
		f := parsed.LookUpField(c.column)
		table := &Table{Shape: plan.Shape{TableName: "rows"}, Schema: parsed, Key: f, Dialect: dialect.SQLite}
		got, err := table.KeyOf(db, c.id)
		if got != c.want || c.want == nil && !errors.Is(err, pathlock.ErrInvalidID) {
			t.Errorf("%v as a key of %s: got %#v, %v; want %#v", c.id, c.column, got, err, c.want)
		}
		if _, err := table.LookupBy("", false); (err == nil) != c.byRequest || errors.Is(err, pathlock.ErrInvalidID) {
			t.Errorf("a resolver by %s: %v", c.column, err)
		}
	}
}

func TestAsFlag(t *testing.T) {
	type row struct {
		Gone  bool
		Count int8
	}
	parsed, err := schema.Parse(&row{}, new(sync.Map), schema.NamingStrategy{})
	testerr.Must(t, err)
	for _, c := range []struct {
		field          string
		assigned, want any
	}{{"Gone", 1, true}, {"Gone", int8(0), false}, {"Gone", true, true}, {"Gone", "1", "1"}, {"Count", true, 1}, {"Count", false, 0}, {"Count", 7, 7}, {"Count", nil, nil}} {
		if got := asFlag(parsed.LookUpField(c.field), c.assigned); got != c.want {
			t.Errorf("%v in %s: got %v, want %v", c.assigned, c.field, got, c.want)
		}
	}
}
