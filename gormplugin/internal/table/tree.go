package table

import (
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// SingleTree is the id of the only tree of a table without a tree column, "" for others.
func (t *Table) SingleTree() string {
	id, _ := t.sole.(string)
	return id
}

// treeBy returns the tree of a row: the table's only one, or what get returns of its column.
func (t *Table) treeBy(get func(*schema.Field) any) any {
	if t.Tree == nil {
		return t.sole
	}
	return get(t.Tree)
}

// InTree is the condition that a row, under an alias or [clause.CurrentTable], is in one of the
// trees. It holds for every row of a table without a tree column.
func (t *Table) InTree(alias string, trees ...any) clause.Expression {
	if t.Tree == nil {
		return clause.Expr{SQL: "1 = 1"}
	}
	return clause.IN{Column: clause.Column{Table: alias, Name: t.Tree.DBName}, Values: trees}
}

// InSameTree is the condition that two rows, under two aliases, are in one tree.
func (t *Table) InSameTree(a, b string) clause.Expression {
	if t.Tree == nil {
		return clause.Expr{SQL: "1 = 1"}
	}
	of := func(alias string) clause.Column { return clause.Column{Table: alias, Name: t.Tree.DBName} }
	return clause.Expr{SQL: "? = ?", Vars: []any{of(a), of(b)}}
}
