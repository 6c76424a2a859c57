package table

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Describe says which columns the fields are, without the leaves.
func (t *Table) Describe() (treetable.Table, error) {
	d := t.described
	for _, form := range []*string{&d.PathForm, &d.IDPathForm} {
		if *form == treetable.DefaultForm.String() {
			*form = ""
		}
	}
	if !t.IsLeaf {
		d.Namespace = t.Namespace
	}
	if len(t.Deletion) == 0 {
		return d, nil
	}
	d.Deleted, d.DeletedWhen = t.Deletion[0].DBName, t.when
	if live := liveLiteral(t.Deletion[0]); t.when == "" && !slices.Contains([]string{"NULL", "0", "FALSE", "''", "'0'"}, live) {
		return d, t.Unsupported("live rows have %s in %q, where NULL, 0, false or the empty text is needed", live, d.Deleted)
	}
	return d, nil
}

// Layout says what the table's schema has to be like.
func (t *Table) Layout() treeschema.Model {
	described, _ := t.Describe() // the marks are described here, whatever their live values
	described.Deleted, described.DeletedWhen = "", ""
	l := treeschema.Model{Table: described, Sizes: make(map[string]int)}
	if t.IsLeaf {
		l.Above = t.Above.described
	}
	for _, f := range t.Deletion {
		l.Marks = append(l.Marks, t.mark(f))
	}
	for _, f := range t.Schema.Fields {
		if size := sizeOf(f); size > 0 {
			l.Sizes[f.DBName] = size
		}
		// A field that is only read may be the result of a query.
		if f.DBName != "" && (f.Creatable || f.Updatable) && !slices.Contains(l.Columns(), f.DBName) {
			l.Others = append(l.Others, f.DBName)
		}
	}
	for _, f := range []*schema.Field{t.Tree, t.Parent, t.Key} {
		if f != nil && (f.GORMDataType == schema.String || isText(f)) {
			l.TextKeys = append(l.TextKeys, f.DBName)
		}
	}
	return l
}

// isText reports whether a field writes a text, whatever the type of its column, as UUIDs do.
func isText(f *schema.Field) bool {
	zero, _ := Plain(reflect.Zero(f.IndirectFieldType).Interface())
	_, ok := zero.(string)
	return ok
}

// isBytes reports whether a field writes bytes.
func isBytes(f *schema.Field) bool {
	zero, _ := Plain(reflect.Zero(f.IndirectFieldType).Interface())
	_, ok := zero.(plan.Bytes)
	return ok
}

// sizeOf returns the number of characters that a model gives a text column, 0 if it states none: a
// table from before keeps its own.
func sizeOf(f *schema.Field) int {
	if f.DataType != schema.String || f.TagSettings["SIZE"] == "" {
		return 0
	}
	return f.Size
}

// liveLiteral returns the value of a deletion mark in a new row, as SQL.
func liveLiteral(f *schema.Field) string {
	switch live := liveMark(f).(type) {
	case nil:
		return "NULL"
	case int64:
		return fmt.Sprint(live)
	case bool:
		return strings.ToUpper(fmt.Sprint(live))
	case string:
		return "'" + strings.ReplaceAll(live, "'", "''") + "'"
	default:
		return fmt.Sprintf("'%v'", live)
	}
}
