package gormplugintest

import (
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Draft is a tree whose rows have an optimistic lock.
type Draft struct {
	ID       int64
	BookID   int64    `pathlock:"tree" gorm:"uniqueIndex:draft_sibling;index:draft_path,priority:1"`
	ParentID *int64   `pathlock:"parent" gorm:"uniqueIndex:draft_sibling"`
	Name     string   `pathlock:"name" gorm:"size:100;uniqueIndex:draft_sibling"`
	Path     string   `pathlock:"path" gorm:"size:500;index:draft_path,priority:2"`
	Note     string   `gorm:"size:100"`
	Revision Revision `gorm:"not null;default:0"`
}

// Revision is an optimistic lock, as gorm.io/plugin/optimisticlock has it: an update of a row hits
// it only with the revision that was read, and counts it up.
type Revision int64

// UpdateClauses implements [schema.UpdateClausesInterface].
func (Revision) UpdateClauses(f *schema.Field) []clause.Interface {
	return []clause.Interface{revisionClause{f}}
}

// revisionClause adds the condition and the assignment.
type revisionClause struct{ field *schema.Field }

func (revisionClause) Name() string               { return "" }
func (revisionClause) Build(clause.Builder)       {}
func (revisionClause) MergeClause(*clause.Clause) {}

// ModifyStatement implements [gorm.StatementModifier].
func (c revisionClause) ModifyStatement(stmt *gorm.Statement) {
	const done = "revision_enabled"
	if _, ok := stmt.Clauses[done]; ok || stmt.ReflectValue.Kind() != reflect.Struct {
		return
	}
	if value, isZero := c.field.ValueOf(stmt.Context, stmt.ReflectValue); !isZero {
		stmt.AddClause(clause.Where{Exprs: []clause.Expression{clause.Eq{Column: c.field.DBName, Value: value}}})
	}
	if assigned, ok := stmt.Dest.(map[string]any); ok {
		assigned[c.field.DBName] = gorm.Expr(c.field.DBName + " + 1")
	}
	stmt.Clauses[done] = clause.Clause{}
}
