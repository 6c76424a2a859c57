package sqloracle

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	pg "github.com/pganalyze/pg_query_go/v6"
	parser "github.com/wasilibs/go-pgquery"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// postgres is the oracle for PostgreSQL.
type postgres struct{}

func newPostgres(*testing.T) oracle { return postgres{} }

// names implements oracle.
func (postgres) names() *rawsql.Names {
	return rawsql.NewNames(&rawsql.PostgreSQL, rawsql.CaseFolded, guarded)
}

// ask implements oracle.
func (postgres) ask(sql string) verdict {
	if strings.Contains(sql, "\x00") {
		return verdict{} // no statement can have it
	}
	result, err := parser.Parse(sql)
	if err != nil {
		return verdict{}
	}
	v := verdict{valid: true, reads: true}
	for _, raw := range result.Stmts {
		v.writes = v.writes || writesBelow(raw.Stmt.ProtoReflect())
		v.reads = v.reads && raw.Stmt.GetSelectStmt() != nil && !modifies(raw.Stmt.ProtoReflect())
	}
	return v
}

// relations returns what a node writes to, and whether what is below it is run.
func relations(node protoreflect.Message) (written []*pg.RangeVar, runs bool) {
	switch n := node.Interface().(type) {
	case *pg.InsertStmt:
		written = append(written, n.Relation)
	case *pg.UpdateStmt:
		written = append(written, n.Relation)
	case *pg.DeleteStmt:
		written = append(written, n.Relation)
	case *pg.MergeStmt:
		written = append(written, n.Relation)
	case *pg.TruncateStmt:
		for _, r := range n.Relations {
			written = append(written, r.GetRangeVar())
		}
	case *pg.CopyStmt:
		if n.IsFrom {
			written = append(written, n.Relation)
		}
	case *pg.SelectStmt:
		written = append(written, n.IntoClause.GetRel())
	case *pg.CreateTableAsStmt:
		if n.Objtype == pg.ObjectType_OBJECT_TABLE {
			written = append(written, n.Into.GetRel())
		}
	case *pg.AlterTableStmt:
		for _, c := range n.Cmds {
			switch cmd := c.GetAlterTableCmd(); cmd.GetSubtype() {
			case pg.AlterTableType_AT_AttachPartition, pg.AlterTableType_AT_DetachPartition:
				written = append(written, n.Relation, cmd.GetDef().GetPartitionCmd().GetName())
			case pg.AlterTableType_AT_AddInherit, pg.AlterTableType_AT_DropInherit:
				written = append(written, n.Relation, cmd.GetDef().GetRangeVar())
			}
		}
	case *pg.ExplainStmt:
		for _, option := range n.Options {
			runs = runs || option.GetDefElem().GetDefname() == "analyze" //nolint:misspell // as SQL spells it
		}
		return nil, runs
	case *pg.ViewStmt, *pg.RuleStmt, *pg.CreateFunctionStmt, *pg.CreateTrigStmt, *pg.CreatePolicyStmt:
		return nil, false
	}
	return written, true
}

// writesBelow reports whether a node, or one below it, writes the guarded table.
func writesBelow(node protoreflect.Message) (found bool) {
	written, runs := relations(node)
	for _, r := range written {
		if r.GetRelname() == guarded {
			return true
		}
	}
	if runs {
		below(node, func(child protoreflect.Message) { found = found || writesBelow(child) })
	}
	return found
}

// modifies reports whether a query has a statement in it that writes any table.
func modifies(node protoreflect.Message) (found bool) {
	written, _ := relations(node)
	for _, r := range written {
		found = found || r != nil
	}
	below(node, func(child protoreflect.Message) { found = found || modifies(child) })
	return found
}

// below calls visit for what is right below a node.
func below(node protoreflect.Message, visit func(protoreflect.Message)) {
	node.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				visit(value.List().Get(i).Message())
			}
		default:
			visit(value.Message())
		}
		return true
	})
}

func TestPostgreSQL(t *testing.T) { checkCorpus(t, newPostgres(t), "postgres") }

func FuzzPostgreSQL(f *testing.F) { fuzz(f, newPostgres, "postgres") }
