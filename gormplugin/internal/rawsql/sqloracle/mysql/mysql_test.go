package mysql

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql/sqloracle"
	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // literals need a driver
)

// tidb is the oracle for MySQL.
type tidb struct{ parser *parser.Parser }

func newTiDB(testing.TB) sqloracle.Oracle {
	p := parser.New()
	p.SetStrictDoubleTypeCheck(true)
	return &tidb{p}
}

// Names implements [sqloracle.Oracle].
func (*tidb) Names() *rawsql.Names {
	return rawsql.NewNames(&rawsql.MySQL, sqloracle.Guarded)
}

// Ask implements [sqloracle.Oracle].
func (o *tidb) Ask(sql string) sqloracle.Verdict {
	lower := strings.ToLower(sql)
	if strings.Contains(lower, "/*t!") || strings.Contains(sql, "\x00") {
		return sqloracle.Verdict{} // its own dialect
	}
	statements, _, err := o.parser.ParseSQL(sql)
	if err != nil {
		return sqloracle.Verdict{}
	}
	v := sqloracle.Verdict{Valid: true, Reads: true}
	for _, s := range statements {
		v.Writes = v.Writes || o.writes(s)
		v.Reads = v.Reads && isRead(s)
	}
	return v
}

// isRead reports whether a statement is a query.
func isRead(s ast.StmtNode) bool {
	switch s := s.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.ShowStmt:
		return true
	case *ast.ExplainStmt:
		return !s.Analyze
	default:
		return false
	}
}

// writes reports whether a statement writes the guarded table.
func (o *tidb) writes(s ast.StmtNode) bool {
	switch s := s.(type) {
	case *ast.InsertStmt:
		return anyTable(s.Table.TableRefs, nil)
	case *ast.UpdateStmt:
		qualifiers := make(map[string]bool)
		for _, a := range s.List {
			qualifiers[a.Column.Table.L] = true
		}
		if qualifiers[""] {
			qualifiers = nil // any of them
		}
		return anyTable(s.TableRefs.TableRefs, qualifiers)
	case *ast.DeleteStmt:
		if s.Tables == nil {
			return anyTable(s.TableRefs.TableRefs, nil)
		}
		qualifiers := make(map[string]bool)
		for _, t := range s.Tables.Tables {
			qualifiers[t.Name.L] = true
		}
		return anyTable(s.TableRefs.TableRefs, qualifiers)
	case *ast.TruncateTableStmt:
		return isGuarded(s.Table)
	case *ast.LoadDataStmt:
		return isGuarded(s.Table)
	case *ast.CreateTableStmt:
		return s.Select != nil && isGuarded(s.Table)
	case *ast.AlterTableStmt:
		return o.alters(s)
	case *ast.ExplainStmt:
		return s.Analyze && o.writes(s.Stmt)
	case *ast.PrepareStmt:
		return s.SQLText != "" && o.Ask(s.SQLText).Writes
	default:
		return false
	}
}

// alters reports whether an ALTER TABLE adds rows to the guarded table or takes some away, or keeps
// none.
func (o *tidb) alters(s *ast.AlterTableStmt) bool {
	for _, spec := range s.Specs {
		switch spec.Tp {
		case ast.AlterTableTruncatePartition, ast.AlterTableDropPartition, ast.AlterTableImportTablespace, ast.AlterTableDiscardTablespace,
			ast.AlterTableDiscardPartitionTablespace:
			if isGuarded(s.Table) {
				return true
			}
		case ast.AlterTableOption:
			for _, option := range spec.Options {
				if option.Tp == ast.TableOptionEngine && strings.EqualFold(option.StrValue, "BLACKHOLE") && isGuarded(s.Table) {
					return true
				}
			}
		case ast.AlterTableExchangePartition:
			if isGuarded(s.Table) || isGuarded(spec.NewTable) {
				return true
			}
		}
	}
	return false
}

// anyTable reports whether the guarded table is among the tables of a join that go by one of the
// qualifiers, or by any if that is nil.
func anyTable(node ast.ResultSetNode, qualifiers map[string]bool) bool {
	switch n := node.(type) {
	case *ast.Join:
		return n != nil && (anyTable(n.Left, qualifiers) || n.Right != nil && anyTable(n.Right, qualifiers))
	case *ast.TableSource:
		t, ok := n.Source.(*ast.TableName)
		if !ok {
			return anyTable(n.Source, qualifiers)
		}
		as := n.AsName.L
		if as == "" {
			as = t.Name.L
		}
		return isGuarded(t) && (qualifiers == nil || qualifiers[as])
	case *ast.TableName:
		return isGuarded(n) && (qualifiers == nil || qualifiers[n.Name.L])
	default:
		return false
	}
}

// isGuarded reports whether a table is the guarded one.
func isGuarded(t *ast.TableName) bool { return t != nil && t.Name.L == sqloracle.Guarded }

func TestMySQL(t *testing.T) { sqloracle.Check(t, newTiDB(t), "mysql") }

func TestMySQLEdited(t *testing.T) { sqloracle.Search(t, newTiDB(t), "mysql") }

func FuzzMySQL(f *testing.F) { sqloracle.Fuzz(f, newTiDB, "mysql") }
