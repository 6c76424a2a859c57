package table

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock"
)

// Column names a column of the table that the statement is on.
func Column(f *schema.Field) clause.Column {
	return clause.Column{Table: clause.CurrentTable, Name: f.DBName}
}

// OneOf is the condition that a column has one of the values.
func OneOf(f *schema.Field, values []any) clause.Expression {
	return clause.IN{Column: Column(f), Values: values}
}

// KeyIn is the condition that a column of keys has one of the values. If the type of keys is known,
// a planner that would misjudge a long list does not see its length.
func (t *Table) KeyIn(column clause.Column, ids []any) clause.Expression {
	const few = 16
	typ := t.keyType()
	isOther := func(id any) bool { _, ok := id.(int64); return ok != (typ == integers) }
	if !t.Dialect.MisjudgesLists || len(ids) <= few || typ == "" || slices.ContainsFunc(ids, isOther) {
		return clause.IN{Column: column, Values: ids}
	}
	return clause.Expr{
		SQL:  "? = ANY (ARRAY(VALUES (CAST(? AS " + typ + "))" + strings.Repeat(", (?)", len(ids)-1) + "))",
		Vars: append([]any{column}, ids...),
	}
}

// integers is the type of all keys that are numbers.
const integers = "BIGINT"

// keyType is the type of keys in SQL, "" if it is not known.
func (t *Table) keyType() string {
	if kind := t.Key.DataType; kind == schema.Int || kind == schema.Uint {
		return integers
	}
	if types := t.types.Load(); types != nil {
		return (*types)[t.Key.DBName]
	}
	return ""
}

// AlsoWhere is a condition beside one that has to find the rows, by their keys or by ranges of an
// index. A planner without statistics would prefer an index for this condition, such as one over
// marks of deletion, unless the statement names the right index.
func (t *Table) AlsoWhere(condition clause.Expression) clause.Expression {
	if t.Dialect.NamesIndexes || len(t.Deletion) == 0 {
		return condition
	}
	return clause.Expr{SQL: "CASE WHEN ? THEN 1 ELSE 0 END = 1", Vars: []any{condition}}
}

// TextIn is the condition that a text column holds one of the texts, or one that its collation
// takes for the same. A planner that misjudges lists gets their range, too.
func (t *Table) TextIn(column clause.Column, texts []any) clause.Expression {
	in := clause.Expr{SQL: t.Dialect.Binary + " IN ?", Vars: []any{column, texts}}
	if t.Dialect.MisjudgesLists {
		inOrder := func(a, b any) int { return cmp.Compare(a.(string), b.(string)) }
		in.SQL += " AND " + t.Dialect.Binary + " BETWEEN ? AND ?"
		in.Vars = append(in.Vars, column, slices.MinFunc(texts, inOrder), slices.MaxFunc(texts, inOrder))
	}
	return in
}

// AnyOf is the condition that one of the conditions holds. GORM's own clause.Or would join the
// other conditions of the statement by OR.
func AnyOf(conditions []clause.Expression) clause.Expression {
	vars := make([]any, len(conditions))
	for i, c := range conditions {
		vars[i] = c
	}
	return clause.Expr{SQL: "(" + strings.Repeat(" OR ?", len(vars))[len(" OR "):] + ")", Vars: vars}
}

// Under turns a condition on columns of the statement's table into one on columns of an alias.
func Under(alias string, condition clause.Expression) clause.Expression {
	return aliased{alias, condition}
}

// aliased is a condition under an alias.
type aliased struct {
	alias     string
	condition clause.Expression
}

// Build implements [clause.Expression].
func (a aliased) Build(b clause.Builder) {
	stmt := b.(*gorm.Statement) // GORM has no other builder
	table := stmt.Table
	stmt.Table = a.alias
	a.condition.Build(b)
	stmt.Table = table
}

// MaxPlaceholders bounds how many values one statement lists. SQLite's oldest limit is 999.
const MaxPlaceholders = 500

// Below is the condition that a row lies below a path, in a tree: a range of the index on (tree,
// path), from "/d1/" up to "/d10", as 0 is the byte after the slash. LIKE would take the % and _ in
// names for wildcards and follow the collation. The last condition is exact even if the collation
// is not; only the rows of the range are compared.
//
// Paths of whole numbers go up to "/1/a": in every collation of MySQL and MariaDB, a separator
// comes before the digits, and these before letters. So their column needs no binary one.
func (t *Table) Below(tree any, path string) clause.Expression {
	column, binary := Column(t.Path), t.Dialect.Binary
	prefix, end := t.PathForm.Below(path)
	if t.hasNumbers() && prefix != "" {
		end = prefix + "a"
	}
	from := " >= ?"
	if prefix == t.PathForm.Print(path) && !t.PathForm.OfParent {
		from = " > ?" // what is stored of the row itself
	}
	within := clause.Expr{SQL: binary + from + " AND " + binary + " < ?", Vars: []any{column, prefix, column, end}}
	if end == "" {
		within = clause.Expr{SQL: binary + from, Vars: []any{column, prefix}}
	}
	begins := clause.Expr{SQL: t.Dialect.Prefix, Vars: []any{column, utf8.RuneCountInString(prefix), prefix}}
	in := t.InTree(tree)
	if !t.PathForm.OfParent {
		return clause.And(in, within, begins)
	}
	// The children of a root row have its path themselves, and it has no name.
	named := clause.Expr{SQL: "1 = 1"}
	if path == "" && !t.ByIDs {
		named = clause.Expr{SQL: t.Dialect.Length + "(?) > 0", Vars: []any{Column(t.Name)}}
	}
	return clause.And(in, named, AnyOf([]clause.Expression{t.Exactly(column, t.PathForm.Print(path)), clause.And(within, begins)}))
}

// hasNumbers reports whether the path consists of whole numbers.
func (t *Table) hasNumbers() bool { return t.ByIDs && !isText(t.Key) }

// Within is the condition that a row is the one with the id, whose path is given, or lies below it.
// Each of the two halves is one range of the same index.
func (t *Table) Within(tree, id any, path string) clause.Expression {
	self := clause.And(
		t.InTree(tree),
		clause.Expr{SQL: t.Dialect.Binary + " = ?", Vars: []any{Column(t.Path), t.PathForm.Column(path)}},
		clause.Eq{Column: Column(t.Key), Value: id},
	)
	return clause.Or(self, t.Below(tree, path))
}

// Exactly is the condition that a text column holds a text, which may be an expression. It uses an
// index that has the column in binary order, and is exact to the byte where the collation is
// another.
func (t *Table) Exactly(column clause.Column, text any) clause.Expression {
	length := clause.Expr{SQL: t.Dialect.Length + "(?)", Vars: []any{column}}
	return clause.And(
		clause.Expr{SQL: t.Dialect.Binary + " = ?", Vars: []any{column, text}},
		clause.Expr{SQL: t.Dialect.Prefix, Vars: []any{column, length, text}},
	)
}

// HasPath is the condition that a row has a path in a tree.
func (t *Table) HasPath(tree any, path pathlock.Path) clause.Expression {
	for name := range path.Names() {
		if t.PathForm.Check(name) != nil {
			return clause.Expr{SQL: "1 = 0"} // the column would spell another path so
		}
	}
	has := []clause.Expression{t.InTree(tree), t.Exactly(Column(t.Path), t.PathForm.Column(path.Column()))}
	switch {
	case !t.PathForm.OfParent:
	case t.ByIDs:
		key, err := t.parse(t.Key, path.Base())
		if err != nil {
			return clause.Expr{SQL: "1 = 0"}
		}
		has = append(has, clause.Eq{Column: Column(t.Key), Value: key})
	default:
		has = append(has, t.Exactly(Column(t.Name), path.Base()))
	}
	return clause.And(has...)
}
