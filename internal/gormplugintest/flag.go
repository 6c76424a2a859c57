package gormplugintest

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Flag marks deleted rows by a number, as gorm.io/plugin/soft_delete does: 0 is a live row.
type Flag int64

// QueryClauses implements [schema.QueryClausesInterface].
func (Flag) QueryClauses(f *schema.Field) []clause.Interface { return []clause.Interface{flagQuery{f}} }

// UpdateClauses implements [schema.UpdateClausesInterface].
func (Flag) UpdateClauses(f *schema.Field) []clause.Interface {
	return []clause.Interface{flagQuery{f}}
}

// DeleteClauses implements [schema.DeleteClausesInterface].
func (Flag) DeleteClauses(f *schema.Field) []clause.Interface {
	return []clause.Interface{flagDelete{flagQuery{f}}}
}

// flagQuery leaves deleted rows out.
type flagQuery struct{ field *schema.Field }

func (flagQuery) Name() string               { return "" }
func (flagQuery) Build(clause.Builder)       {}
func (flagQuery) MergeClause(*clause.Clause) {}

// ModifyStatement implements [gorm.StatementModifier].
func (q flagQuery) ModifyStatement(stmt *gorm.Statement) {
	if _, done := stmt.Clauses["soft_delete_enabled"]; done || stmt.Unscoped || stmt.SQL.Len() > 0 {
		return
	}
	stmt.AddClause(clause.Where{Exprs: []clause.Expression{
		clause.Eq{Column: clause.Column{Table: clause.CurrentTable, Name: q.field.DBName}, Value: 0},
	}})
	stmt.Clauses["soft_delete_enabled"] = clause.Clause{}
}

// flagDelete makes an UPDATE of a DELETE.
type flagDelete struct{ flagQuery }

// ModifyStatement implements [gorm.StatementModifier].
func (d flagDelete) ModifyStatement(stmt *gorm.Statement) {
	if stmt.SQL.Len() > 0 || stmt.Unscoped {
		return
	}
	stmt.AddClause(clause.Set{{Column: clause.Column{Name: d.field.DBName}, Value: time.Now().UnixNano()}})
	_, values := schema.GetIdentityFieldValuesMap(stmt.Context, stmt.ReflectValue, stmt.Schema.PrimaryFields)
	column, list := schema.ToQueryValues(stmt.Table, stmt.Schema.PrimaryFieldDBNames, values)
	if len(list) > 0 {
		stmt.AddClause(clause.Where{Exprs: []clause.Expression{clause.IN{Column: column, Values: list}}})
	}
	d.flagQuery.ModifyStatement(stmt)
	stmt.AddClauseIfNotExists(clause.Update{})
	stmt.Build(stmt.DB.Callback().Update().Clauses...)
}

// Flagged is a tree whose rows are deleted by a flag, with rows at the top that have no parent: 0
// stands for none.
type Flagged struct {
	ID       uint32
	DriveID  string `pathlock:"tree" gorm:"size:36;uniqueIndex:flagged_sibling;index:flagged_path,priority:1"`
	ParentID uint32 `pathlock:"parent" gorm:"uniqueIndex:flagged_sibling"`
	Name     string `pathlock:"name" gorm:"size:100;uniqueIndex:flagged_sibling"`
	Path     string `pathlock:"path" gorm:"size:500;index:flagged_path,priority:2"`
	Deleted  Flag   `gorm:"uniqueIndex:flagged_sibling"`
}
