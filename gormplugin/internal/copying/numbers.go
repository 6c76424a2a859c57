package copying

import (
	"fmt"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// numberCopies gives the copied rows their paths of ids, now that they have ids, in one statement:
// from the top down, by the parents.
func (c *Copier) numberCopies(db *gorm.DB, t *table.Table, x *plan) error {
	of := func(alias, name string) clause.Column { return clause.Column{Table: alias, Name: name} }
	name, key := clause.Table{Name: t.TableName}, t.Key.DBName
	above := "/"
	if x.above != nil {
		above = x.above.IDs + "/"
	}
	down := clause.Expr{
		SQL: "WITH RECURSIVE down (id, ids) AS (SELECT ?, ? FROM ? AS c WHERE ? UNION ALL SELECT ?, ? FROM ? AS c JOIN down ON ? = down.id WHERE ?) SELECT id, ids FROM down",
		Vars: []any{
			of("c", key), clause.Expr{SQL: c.Dialect.First, Vars: []any{above, of("c", key)}}, name,
			table.Under("c", clause.And(c.slot(t, x), t.Alive)),
			of("c", key), clause.Expr{SQL: c.Dialect.Follow, Vars: []any{of("down", "ids"), of("c", key)}}, name,
			of("c", t.Parent.DBName), table.Under("c", t.Alive),
		},
	}
	var longest string
	err := t.Direct(db).Add("SELECT p.ids FROM (?) AS p ORDER BY "+c.Dialect.Length+"(p.ids) DESC LIMIT 1", down).One(&longest)
	if err == nil {
		if err := table.Fits(t.IDs, utf8.RuneCountInString(longest), longest); err != nil {
			return err
		}
		belongs := clause.Eq{Column: of("c", key), Value: of("p", "id")}
		update := c.Dialect.Assign(clause.Expr{SQL: "(?)", Vars: []any{down}}, name, clause.Set{{Column: clause.Column{Name: t.IDs.DBName}, Value: of("p", "ids")}}, belongs, clause.Expr{SQL: "1 = 1"})
		_, err = t.Direct(db).Add(update.SQL, update.Vars...).Exec()
	}
	if err != nil {
		return fmt.Errorf("gormplugin: writing the paths of ids below %q: %w", x.after.Path, err)
	}
	return nil
}
