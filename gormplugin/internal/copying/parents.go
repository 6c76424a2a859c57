package copying

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

// A standInFor is the beginning of the names that copied rows have until they have their parents;
// the number of the row is the end.
//
// Rows of all folders are without their parents at the same time, so their own names would collide,
// with each other and with those of rows at the top. No name has a slash, so a stand-in collides
// with none. The random part keeps apart what several transactions insert at once: without it, they
// would wait for each other, and still be right.
type standIn string

// standInRandom is how many random characters a stand-in has, where the column has room for them.
const standInRandom = 8

// standInFor returns one for a number of rows. It refuses a column that has no room for their
// numbers.
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

// pendingParent is what a copy writes into the parent column: the top row's parent and, until the
// parents of the others are known, NULL for these. Where the column cannot be NULL, they have the
// same parent as the top row, which is one that a foreign key accepts. ofTop tells the top row from
// the others.
func pendingParent(t *table.Table, top any, ofTop func(top, others any) any) any {
	if t.NoParent() == nil {
		return ofTop(top, none(t.Parent))
	}
	return typed(top, t.Parent)
}

// adopt gives the copied rows below the top their parents and their names.
func (c *Copier) adopt(db *gorm.DB, t *table.Table, x *plan, names standIn, rows int64) error {
	of := func(alias string, f *schema.Field) clause.Column { return clause.Column{Table: alias, Name: f.DBName} }
	path, name, length := of("c", t.Path), c.Dialect.Base(of("c", t.Path)), c.Dialect.Length
	parentPath := clause.Expr{SQL: "SUBSTR(?, 1, " + length + "(?) - " + length + "(?) - 1)", Vars: []any{path, path, name}}
	belongs := clause.And(
		clause.Expr{SQL: "? = ?", Vars: []any{of("p", t.Tree), of("c", t.Tree)}},
		t.Exactly(of("p", t.Path), parentPath),
		table.Under("p", t.Alive),
	)
	pending := clause.Expr{SQL: c.Dialect.Prefix, Vars: []any{of("c", t.Name), utf8.RuneCountInString(string(names)), string(names)}}
	where := clause.And(pending, table.Under("c", clause.And(t.Below(x.after.Tree, x.after.Path), t.Alive)))
	set := clause.Set{
		{Column: clause.Column{Name: t.Parent.DBName}, Value: of("p", t.Key)},
		{Column: clause.Column{Name: t.Name.DBName}, Value: name},
	}
	guarded := clause.Table{Name: t.TableName}
	update := c.Dialect.Assign(guarded, guarded, set, belongs, where)
	adopted, err := t.Direct(db).Add(update.SQL, update.Vars...).Exec()
	if err != nil {
		return fmt.Errorf("gormplugin: finding the parents of the rows copied to %q: %w", x.after.Path, err)
	}
	if adopted != rows {
		return fmt.Errorf("gormplugin: %d of the %d rows below have no parent where their paths say: %w",
			rows-adopted, rows, &fault.PathChangedError{Table: t.TableName, ID: x.source.ID, Planned: x.source.Path, Actual: x.source.Path})
	}
	return nil
}
