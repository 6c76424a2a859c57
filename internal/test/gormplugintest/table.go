package gormplugintest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// table is a shape with what GORM knows of its model.
type table struct {
	shape
	schema *schema.Schema
	// The columns; empty where there is none.
	treeColumn, parent, label, path, ids, version, note, level string
	// top is the depth of a row whose path has one name.
	top int
	// atTop is what the parent column holds at the top, "" for NULL and zero.
	atTop string
	// pathForm and idsForm are how two of them spell paths.
	pathForm, idsForm spelling
}

// newTable parses a shape's model.
func newTable(db *gorm.DB, s shape) (*table, error) {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(s.model); err != nil {
		return nil, err
	}
	x := &table{shape: s, schema: stmt.Schema}
	columns := map[string]*string{"tree": &x.treeColumn, "parent": &x.parent, "name": &x.label, "path": &x.path, "idpath": &x.ids, "version": &x.version, "depth": &x.level}
	x.top = 1
	for _, f := range stmt.Schema.Fields {
		role, form := spellingIn(f.Tag.Get("pathlock"))
		if column := columns[role]; column != nil {
			*column = f.DBName
		}
		switch role {
		case "path":
			x.pathForm = form
		case "idpath":
			x.idsForm = form
		case "parent":
			_, x.atTop, _ = strings.Cut(f.Tag.Get("pathlock"), ",top:")
		case "depth":
			_, _ = fmt.Sscanf(f.Tag.Get("pathlock"), "depth,top:%d", &x.top)
		}
	}
	if s.nameless {
		x.label = "title"
	}
	if f := stmt.Schema.LookUpField("note"); f != nil {
		x.note = f.DBName
	}
	return x, nil
}

// new returns a pointer to an empty struct of the model.
func (x *table) new() any { return reflect.New(x.schema.ModelType).Interface() }

// set assigns to a column of a struct.
func (x *table) set(row any, column string, value any) {
	if err := x.schema.FieldsByDBName[column].Set(context.Background(), reflect.ValueOf(row).Elem(), value); err != nil {
		panic(fmt.Sprintf("%s.%s = %#v: %v", x.name, column, value, err))
	}
}

// get returns what a struct has in a column.
func (x *table) get(row any, column string) any {
	value, _ := x.schema.FieldsByDBName[column].ValueOf(context.Background(), reflect.ValueOf(row).Elem())
	return value
}

// row returns a pointer to a struct with values by columns.
func (x *table) row(values map[string]any) any {
	row := x.new()
	for column, value := range values {
		x.set(row, column, value)
	}
	return row
}

// putIn has a row, by columns, state the tree that it is in, as far as the table has a column for
// it.
func (x *table) putIn(row map[string]any, tree any) {
	if x.treeColumn != "" {
		row[x.treeColumn] = tree
	}
}

// slice returns a slice of what row has returned, of pointers.
func (x *table) slice(rows []any) any {
	slice := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(x.schema.ModelType)), 0, len(rows))
	for _, row := range rows {
		slice = reflect.Append(slice, reflect.ValueOf(row))
	}
	return slice.Interface()
}

// tableOf parses a shape's model, which is known to be one.
func (w *world) tableOf(s shape) *table {
	w.Helper()
	x, err := newTable(w.db, s)
	w.must(err)
	return x
}

// quoted is the table's name in SQL.
func (x *table) quoted(db *gorm.DB) string { return db.Statement.Quote(x.schema.Table) }

// of returns rows by their keys, as a GORM expression.
func (x *table) of(keys ...any) clause.Expression {
	return clause.IN{Column: clause.Column{Table: clause.CurrentTable, Name: "id"}, Values: keys}
}

// actual is a row as it is in the database.
type actual struct {
	key, parent, name, path, ids, note string
	version, level                     int
	live                               bool
}

// read returns all rows of a tree by plain SQL.
func (x *table) read(db *gorm.DB, tree any) (rows []actual, err error) {
	quote := func(column, none string) string {
		if column == "" {
			return none
		}
		return db.Statement.Quote(column)
	}
	live := "1"
	if x.live != "" {
		live = "CASE WHEN " + x.live + " THEN 1 ELSE 0 END"
	}
	query := fmt.Sprintf("SELECT id, %s, %s, %s, %s, %s, %s, %s, %s FROM %s WHERE %s = ?", quote(x.parent, ""), quote(x.label, ""), quote(x.path, "''"), quote(x.ids, "''"),
		"COALESCE("+quote(x.note, "''")+", '')", "COALESCE("+quote(x.version, "0")+", 0)", "COALESCE("+quote(x.level, "0")+", 0)", live, x.quoted(db), quote(x.treeColumn, "'"+x.sole+"'"))
	found, err := db.Raw(query, tree).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var r actual
		var key, parent any
		var name, path, ids, note sql.NullString
		if err := found.Scan(&key, &parent, &name, &path, &ids, &note, &r.version, &r.level, &r.live); err != nil {
			return nil, err
		}
		r.key, r.name, r.path, r.ids, r.note = keyText(key), name.String, path.String, ids.String, note.String
		if parent != nil {
			r.parent = keyText(parent)
		}
		rows = append(rows, r)
	}
	return rows, found.Err()
}

// text returns a key as [table.read] does.
func (x *table) text(key any) string {
	if v, ok := key.(driver.Valuer); ok {
		if value, err := v.Value(); err == nil {
			key = value
		}
	}
	return keyText(key)
}

// isNone reports whether a parent column's value means no parent.
func (x *table) isNone(text string) bool {
	if x.atTop != "" {
		return text == x.atTop
	}
	return strings.Trim(text, "0\x00") == ""
}

// keyText returns a key as the driver gave it as a text.
func keyText(value any) string {
	if bytes, ok := value.([]byte); ok {
		return string(bytes)
	}
	return strings.TrimSpace(fmt.Sprint(value))
}
