package postgres

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql/sqloracle"
	pg "github.com/pganalyze/pg_query_go/v6"
	parser "github.com/wasilibs/go-pgquery"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// postgres is the oracle for PostgreSQL.
type postgres struct{}

func newPostgres(testing.TB) sqloracle.Oracle { return postgres{} }

// Names implements [sqloracle.Oracle].
func (postgres) Names() *rawsql.Names {
	return rawsql.NewNames(&rawsql.PostgreSQL, sqloracle.Guarded)
}

// Ask implements [sqloracle.Oracle].
func (postgres) Ask(sql string) sqloracle.Verdict {
	if strings.Contains(sql, "\x00") {
		return sqloracle.Verdict{} // no statement can have it
	}
	result, err := parser.Parse(sql)
	if err != nil {
		return sqloracle.Verdict{}
	}
	v := sqloracle.Verdict{Valid: true, Reads: true}
	for _, raw := range result.Stmts {
		v.Writes = v.Writes || writesBelow(raw.Stmt.ProtoReflect())
		v.Reads = v.Reads && raw.Stmt.GetSelectStmt() != nil && !modifies(raw.Stmt.ProtoReflect())
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
			case pg.AlterTableType_AT_AlterColumnType:
				if cutsOrComputes(cmd) {
					written = append(written, n.Relation)
				}
			case pg.AlterTableType_AT_AddInherit, pg.AlterTableType_AT_DropInherit:
				written = append(written, n.Relation, cmd.GetDef().GetRangeVar())
			}
		}
	case *pg.ExplainStmt:
		for _, option := range n.Options {
			if option.GetDefElem().GetDefname() == "analyze" { //nolint:misspell // as SQL spells it
				runs = !saysNo(option.GetDefElem().GetArg()) // the last one counts
			}
		}
		return nil, runs
	case *pg.ViewStmt, *pg.RuleStmt, *pg.CreateFunctionStmt, *pg.CreateTrigStmt, *pg.CreatePolicyStmt:
		return nil, false
	}
	return written, true
}

// saysNo reports whether an option's value is false, as defGetBoolean has it.
func saysNo(value *pg.Node) bool {
	if value.GetInteger() != nil {
		return value.GetInteger().GetIval() == 0
	}
	text := value.GetString_().GetSval()
	return strings.EqualFold(text, "false") || strings.EqualFold(text, "off") || value.GetBoolean() != nil && !value.GetBoolean().GetBoolval()
}

// cutsOrComputes reports whether an ALTER COLUMN … TYPE gives a column other values than its own:
// those of a type that pads or cuts, or of an expression that is not the column, cast.
func cutsOrComputes(cmd *pg.AlterTableCmd) bool {
	if cuts(cmd.GetDef().GetColumnDef().GetTypeName(), false) {
		return true
	}
	using := cmd.GetDef().GetColumnDef().GetRawDefault()
	for using.GetTypeCast() != nil {
		if cuts(using.GetTypeCast().GetTypeName(), true) {
			return true
		}
		using = using.GetTypeCast().GetArg()
	}
	fields := using.GetColumnRef().GetFields()
	return using != nil && (len(fields) != 1 || fields[0].GetString_().GetSval() != cmd.GetName())
}

// cuts reports whether a type pads or cuts texts without an error, as a cast to a length does.
func cuts(typ *pg.TypeName, cast bool) bool {
	names := typ.GetNames()
	switch names[len(names)-1].GetString_().GetSval() {
	case "bpchar", "char", "name":
		return true
	case "varchar":
		return cast && len(typ.GetTypmods()) > 0
	default:
		return false
	}
}

// writesBelow reports whether a node, or one below it, writes the guarded table.
func writesBelow(node protoreflect.Message) (found bool) {
	written, runs := relations(node)
	for _, r := range written {
		if r.GetRelname() == sqloracle.Guarded {
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

func TestPostgreSQL(t *testing.T) { sqloracle.Check(t, newPostgres(t), "postgres") }

func TestPostgreSQLEdited(t *testing.T) { sqloracle.Search(t, newPostgres(t), "postgres") }

func FuzzPostgreSQL(f *testing.F) { sqloracle.Fuzz(f, newPostgres, "postgres") }
