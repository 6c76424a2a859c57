package table

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// A mark of deletion is a column whose type has GORM hide deleted rows, and turn a DELETE into an
// UPDATE; or a plain column with the tag "deleted", which hides nothing. A row is live while its
// mark is NULL or a zero value, the text "0" included, or, if the tag names the value of deleted
// rows, any other value.

// findMarks finds the columns that mark rows as deleted: those whose types do, or the plain one
// that is named or tagged. when is the value that the latter has in deleted rows, "" for that of
// the tag.
func (t *Table) findMarks(db *gorm.DB, named, when string) error {
	for _, f := range t.Schema.Fields {
		if hidesDeleted(db, t.Schema, f) {
			t.Deletion = append(t.Deletion, f)
		}
	}
	f, err := findColumn(t.Schema, "deleted", named)
	if err != nil || f == nil {
		return err
	}
	if when == "" {
		if _, when, err = roleOf(f); err != nil {
			return err
		}
	}
	switch {
	case len(t.Deletion) > 0:
		err = fmt.Errorf("%s marks rows as deleted by its type, so no other column can", t.Deletion[0].Name)
	case f == t.Version || t.Owns(f):
		err = errors.New("a column of the tree cannot mark rows as deleted")
	default:
		t.Deletion, t.plainMark, t.when = []*schema.Field{f}, true, when
		t.whenLiteral, err = checkMark(f, when)
	}
	if err != nil {
		return fmt.Errorf("gormplugin: %s.%s: %w", t.Schema.Name, f.Name, err)
	}
	return nil
}

// checkMark refuses plain columns whose live rows could have several values, or one that GORM
// leaves out. It returns when as SQL.
func checkMark(f *schema.Field, when string) (literal string, err error) {
	zero, err := Plain(reflect.Zero(f.FieldType).Interface())
	_, number := zero.(int64)
	_, text := zero.(string)
	switch {
	case err != nil:
		return "", err
	case when != "": // a number as the database shows it, and not 02
		if literal, err = dialect.MarkLiteral(when, number); err == nil && !text && (literal == "0" || literal != when) {
			err = fmt.Errorf("%q cannot mark rows as deleted: only a text, or a number other than 0, can, in a column that is no pointer", when)
		}
		return literal, err
	case number || text || zero == false || zero == nil && f.DataType == schema.Time:
		return "", nil
	default:
		return "", fmt.Errorf("a mark of deletion is a number, a bool, a text or a *time.Time, not a %v", f.FieldType)
	}
}

// hidesDeleted reports whether a column marks rows as deleted by its type: it hides rows from
// queries, and turns a DELETE into an UPDATE of the column. A type that only hides rows is a
// condition of the caller's, such as a tenant's.
func hidesDeleted(db *gorm.DB, parsed *schema.Schema, f *schema.Field) bool {
	if f.DBName == "" {
		return false
	}
	value := reflect.New(f.IndirectFieldType).Interface()
	if _, hides := value.(schema.QueryClausesInterface); !hides {
		return false
	}
	set, builds := setByDelete(db, parsed, f)
	return builds || slices.ContainsFunc(set, func(a clause.Assignment) bool { return a.Column.Name == f.DBName })
}

// setByDelete returns what a DELETE assigns because of a column's type, and whether the type builds
// the statement itself.
func setByDelete(db *gorm.DB, parsed *schema.Schema, f *schema.Field) (set clause.Set, builds bool) {
	row := reflect.New(parsed.ModelType)
	stmt := db.Session(&gorm.Session{NewDB: true, DryRun: true}).Model(row.Interface()).Statement
	mark, ok := reflect.New(f.IndirectFieldType).Interface().(schema.DeleteClausesInterface)
	if !ok || stmt.Parse(row.Interface()) != nil {
		return nil, false
	}
	stmt.Dest, stmt.ReflectValue = row.Interface(), row.Elem()
	for _, c := range mark.DeleteClauses(f) {
		stmt.AddClause(c)
	}
	set, _ = stmt.Clauses["SET"].Expression.(clause.Set)
	return set, stmt.SQL.Len() > 0
}

// Marks returns what a DELETE assigns to the rows by the types of their marks, nil if it removes
// them for good.
func (t *Table) Marks(db *gorm.DB) (clause.Set, error) {
	if t.plainMark || len(t.Deletion) == 0 {
		return nil, nil
	}
	set, _ := setByDelete(db, t.Schema, t.Deletion[0])
	if set == nil {
		return nil, t.Unsupported("a DELETE sets %q in its own way: set it by Updates", t.Deletion[0].DBName)
	}
	return set, nil
}

// MayHitDeleted reports whether the conditions of a statement can hold of deleted rows.
func (t *Table) MayHitDeleted(stmt *gorm.Statement) bool {
	return len(t.Deletion) > 0 && (stmt.Unscoped || t.plainMark)
}

// setConditions sets the conditions that a row is live, and that GORM does not hide it. NULL means
// a live row everywhere, even where a type hides it.
func (t *Table) setConditions(db *gorm.DB) {
	all := clause.Expr{SQL: "1 = 1"}
	t.Alive, t.Seen = all, all
	if len(t.Deletion) == 0 {
		return
	}
	f := t.Deletion[0]
	null := clause.Expr{SQL: "? IS NULL", Vars: []any{Column(f)}}
	if t.plainMark {
		live := t.mark(f).Condition("?")
		t.Alive = clause.Expr{SQL: live, Vars: slices.Repeat([]any{Column(f)}, strings.Count(live, "?"))}
		return
	}
	stmt := db.Session(&gorm.Session{NewDB: true}).Model(t.Fresh()).Statement
	for _, f := range t.Deletion {
		mark, _ := reflect.New(f.IndirectFieldType).Interface().(schema.QueryClausesInterface)
		for _, c := range mark.QueryClauses(f) {
			stmt.AddClause(c)
		}
	}
	if where, _ := stmt.Clauses["WHERE"].Expression.(clause.Where); len(where.Exprs) > 0 {
		t.Seen = clause.And(where.Exprs...)
	}
	t.Alive = t.Seen
	if len(t.Deletion) == 1 && liveMark(f) != nil {
		t.Alive = AnyOf([]clause.Expression{null, t.Seen})
	}
}

// mark says what a mark of deletion holds.
func (t *Table) mark(f *schema.Field) treeschema.Mark {
	return treeschema.Mark{Column: f.DBName, Live: liveLiteral(f), When: t.whenLiteral, OrNull: t.plainMark}
}

// LiveMark is the value of a deletion mark in a live row: see [liveMark]. It is nil if a row may
// have any other than that of deleted ones.
func (t *Table) LiveMark(f *schema.Field) any {
	if t.when != "" {
		return nil
	}
	return liveMark(f)
}

// liveMark is what GORM writes for a new row: NULL, or a zero value.
func liveMark(f *schema.Field) any {
	switch {
	case strings.EqualFold(f.DefaultValue, "NULL"):
		return nil
	case f.DefaultValueInterface == "0":
		return "0" // of a text
	}
	// A zero value has a plain form, unless the type is none that a column could have.
	live, _ := Plain(reflect.Zero(f.FieldType).Interface())
	return live
}

// MarksLive reports whether a value that is assigned to a deletion mark means a live row, and what
// to write for it.
func (t *Table) MarksLive(ctx context.Context, f *schema.Field, assigned any) (live bool, write any, err error) {
	assigned = asFlag(f, assigned)
	value, err := t.Convert(ctx, f, assigned)
	if err != nil {
		return false, nil, err
	}
	known := []string{t.when}
	if t.when == "" {
		known = []string{"", "0"}
	}
	text, isText := value.(string)
	for _, k := range known {
		if isText && t.plainMark && !slices.Contains(known, text) && collate.New(language.Und, collate.Loose).CompareString(strings.TrimSpace(text), k) == 0 {
			return false, nil, t.Unfit("%q can be set to %q, but not to %q, which a collation may treat as equal", f.DBName, k, text)
		}
	}
	if t.when != "" {
		return fmt.Sprint(value) != t.when, assigned, nil
	}
	// A mark of 0 in a struct may have been NULL, and a flag may be given as NULL or as a zero
	// value.
	write = liveMark(f)
	if value == "0" && t.plainMark {
		return true, assigned, nil
	}
	if value == write || value == nil || write == nil && reflect.ValueOf(value).IsZero() {
		return true, write, nil
	}
	if _, number := value.(int64); number {
		assigned = Written(assigned, value)
	}
	return false, assigned, nil
}

// asFlag gives a flag the type of its column: programs write 1 into a bool, and true into a number.
func asFlag(f *schema.Field, assigned any) any {
	of, value := reflect.New(f.IndirectFieldType).Elem(), reflect.ValueOf(assigned)
	switch {
	case of.Kind() == reflect.Bool && value.CanInt():
		return value.Int() != 0
	case (of.CanInt() || of.CanUint()) && value.Kind() == reflect.Bool && value.Bool():
		return 1
	case (of.CanInt() || of.CanUint()) && value.Kind() == reflect.Bool:
		return 0
	default:
		return assigned
	}
}
