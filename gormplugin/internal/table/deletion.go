package table

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// marksDeletion reports whether a column marks rows as deleted: its type hides rows from queries,
// and turns a DELETE into an UPDATE of the column. A type that only hides rows is a condition of
// the caller's, such as a tenant's.
func marksDeletion(db *gorm.DB, parsed *schema.Schema, f *schema.Field) bool {
	if f.DBName == "" {
		return false
	}
	value := reflect.New(f.IndirectFieldType).Interface()
	if _, hides := value.(schema.QueryClausesInterface); !hides {
		return false
	}
	mark, ok := value.(schema.DeleteClausesInterface)
	if !ok {
		return false
	}
	row := reflect.New(parsed.ModelType)
	stmt := db.Session(&gorm.Session{NewDB: true, DryRun: true}).Model(row.Interface()).Statement
	if err := stmt.Parse(row.Interface()); err != nil {
		return false
	}
	stmt.Dest, stmt.ReflectValue = row.Interface(), row.Elem()
	for _, c := range mark.DeleteClauses(f) {
		stmt.AddClause(c)
	}
	set, _ := stmt.Clauses["SET"].Expression.(clause.Set)
	return stmt.SQL.Len() > 0 || slices.ContainsFunc(set, func(a clause.Assignment) bool { return a.Column.Name == f.DBName })
}

// LiveMark is the value of a deletion mark in a live row: what GORM writes for a new one, NULL or a
// zero value.
func LiveMark(f *schema.Field) any {
	if strings.EqualFold(f.DefaultValue, "NULL") {
		return nil
	}
	// A zero value has a plain form, unless the type is none that a column could have.
	live, _ := Plain(reflect.Zero(f.FieldType).Interface())
	return live
}

// MarksLive reports whether a value that is assigned to a deletion mark means a live row.
func (t *Table) MarksLive(ctx context.Context, f *schema.Field, assigned any) (bool, error) {
	value, err := t.Convert(ctx, f, assigned)
	if err != nil {
		return false, err
	}
	live := LiveMark(f)
	// A mark of 0 in a struct may have been NULL, and a flag may be given as NULL or as a zero
	// value.
	return value == live || value == nil || live == nil && reflect.ValueOf(value).IsZero(), nil
}
