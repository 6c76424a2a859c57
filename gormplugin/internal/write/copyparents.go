package write

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// A standIn is the beginning of the names that copied rows have until they have their parents. The
// number of the row is the end.
//
// Rows of all folders are without their parents at the same time, so that their own names would
// collide with each other, and with those of rows at the top. A stand-in collides with no name,
// since no name has a slash. The random part keeps transactions that copy at once from waiting for
// each other.
type standIn string

// standInRandom is how many random characters a stand-in has, where the column has room for them.
const standInRandom = 8

// standInFor returns a stand-in for a number of rows. It refuses a column that has no room for
// their numbers.
func standInFor(t *table.Table, rows int64) (standIn, error) {
	if rows == 0 {
		return "/", nil
	}
	random := standInRandom
	if size := t.Name.Size; size > 0 {
		// The row at the top has a number, too.
		random = min(random, size-len("/")-len(strconv.FormatInt(rows+1, 10)))
	}
	if random < 0 {
		return "", t.Unsupported("names of %d characters have no room for the numbers of %d rows, which Copy writes there until it knows their parents",
			t.Name.Size, rows)
	}
	return standIn("/" + rand.Text()[:random]), nil
}

// pendingParent is what a copy writes into the parent column: the top row's parent, and NULL for
// the other rows, until their parents are known. Where the column cannot be NULL, they get the top
// row's parent, which a foreign key accepts. ofTop tells the top row from the others.
func pendingParent(t *table.Table, top any, ofTop func(top, others any) any) any {
	if t.NoParent() == nil {
		return ofTop(top, none(t.Parent))
	}
	return typed(top, t.Parent)
}

// adopt gives the copied rows below the top their parents and their names.
func (e *Engine) adopt(db *gorm.DB, t *table.Table, x *copying, names standIn, rows int64) error {
	of := func(alias string, f *schema.Field) clause.Column { return clause.Column{Table: alias, Name: f.DBName} }
	path, length := of("c", t.Path), e.Dialect.Length
	named := clause.Expression(clause.Expr{SQL: "?", Vars: []any{path}})
	if t.PathForm.Trail != "" {
		named = clause.Expr{SQL: "SUBSTR(?, 1, " + length + "(?) - 1)", Vars: []any{path, path}}
	}
	name := clause.NamedExpr{SQL: table.Separated(t.PathForm, e.Dialect.Base), Vars: []any{map[string]any{"path": named}}}
	parentPath := clause.Expr{SQL: "SUBSTR(?, 1, " + length + "(?) - " + length + "(?) - 1)", Vars: []any{path, path, name}}
	belongs := clause.And(
		t.InSameTree("p", "c"),
		t.Exactly(of("p", t.Path), parentPath),
		table.Under("p", t.Alive),
	)
	pending := clause.Expr{SQL: e.Dialect.Prefix, Vars: []any{of("c", t.Name), utf8.RuneCountInString(string(names)), string(names)}}
	where := clause.And(pending, table.Under("c", clause.And(t.Below(x.After.Tree, x.After.Path), t.Alive)))
	set := clause.Set{
		{Column: clause.Column{Name: t.Parent.DBName}, Value: of("p", t.Key)},
		{Column: clause.Column{Name: t.Name.DBName}, Value: name},
	}
	guarded := clause.Table{Name: t.TableName}
	adopted, err := t.Direct(db).Add("?", e.assign(guarded, guarded, set, belongs, where)).Exec()
	if err != nil {
		return fmt.Errorf("gormplugin: finding the parents of the rows copied to %q: %w", x.After.Path, err)
	}
	if adopted != rows {
		return fmt.Errorf("gormplugin: %d of the %d rows below have no parent where their paths say: %w",
			rows-adopted, rows, &fault.PathChangedError{Table: t.TableName, ID: x.Source.ID, Planned: x.Source.Path, Actual: x.Source.Path})
	}
	return nil
}

// assign is an UPDATE that sets columns of a table, called c, to expressions of them and of the
// rows of others, called p, that belong to them.
func (e *Engine) assign(others any, guarded clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expression {
	return e.assignBy(e.Dialect.Assign, others, guarded, set, belongs, where)
}

// assignBy is assign in one of the dialect's forms.
func (e *Engine) assignBy(form string, others, guarded any, set clause.Set, belongs, where clause.Expression) clause.Expression {
	if e.Dialect.AssignQualifies {
		for i := range set {
			set[i].Column.Table = "c"
		}
	}
	return clause.NamedExpr{SQL: form, Vars: []any{map[string]any{
		"table": guarded, "others": others, "set": set, "belongs": belongs, "where": where,
	}}}
}

// numberCopies gives the copied rows, which have their ids now, their paths of ids. It does so in
// one statement, from the top down by the parents.
func (e *Engine) numberCopies(db *gorm.DB, t *table.Table, x *copying) error {
	of := func(alias, name string) clause.Column { return clause.Column{Table: alias, Name: name} }
	name, key := clause.Table{Name: t.TableName}, t.Key.DBName
	above, _ := t.IDsForm.Below("")
	if x.Above != nil {
		above, _ = t.IDsForm.Below(x.Above.IDs)
	}
	ids := clause.Expr{SQL: "ids"}
	if t.IDsForm.Trail != "" {
		ids = clause.Expr{SQL: table.Separated(t.IDsForm, e.Dialect.Follow) + " AS ids", Vars: []any{clause.Column{Name: "ids"}, ""}}
	}
	down := clause.Expr{
		SQL: "WITH RECURSIVE down (id, ids) AS (SELECT ?, ? FROM ? AS c WHERE ? UNION ALL SELECT ?, ? FROM ? AS c JOIN down ON ? = down.id WHERE ?) SELECT id, ? FROM down",
		Vars: []any{
			of("c", key), clause.Expr{SQL: e.Dialect.First, Vars: []any{above, of("c", key)}}, name,
			table.Under("c", clause.And(e.slot(t, x), t.Alive)),
			of("c", key), clause.Expr{SQL: table.Separated(t.IDsForm, e.Dialect.Follow), Vars: []any{of("down", "ids"), of("c", key)}}, name,
			of("c", t.Parent.DBName), table.Under("c", t.Alive), ids,
		},
	}
	var longest string
	err := t.Direct(db).Add("SELECT p.ids FROM (?) AS p ORDER BY "+e.Dialect.Length+"(p.ids) DESC LIMIT 1", down).One(&longest)
	if err == nil {
		if err := t.IDsRoom.Fits(utf8.RuneCountInString(longest), longest); err != nil {
			return err
		}
		belongs := clause.Eq{Column: of("c", key), Value: of("p", "id")}
		set := clause.Set{{Column: clause.Column{Name: t.IDs.DBName}, Value: of("p", "ids")}}
		update := e.assign(clause.Expr{SQL: "(?)", Vars: []any{down}}, name, set, belongs, clause.Expr{SQL: "1 = 1"})
		_, err = t.Direct(db).Add("?", update).Exec()
	}
	if err != nil {
		return fmt.Errorf("gormplugin: writing the paths of ids below %q: %w", x.After.Path, err)
	}
	return nil
}
