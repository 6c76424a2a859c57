package adopt

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// statements lists what the schema of a shape needs, and returns all that package treeschema finds.
func (r *reader) statements(ctx context.Context, s *shape, tree *Tree) ([]treeschema.Finding, error) {
	of := s.of
	add := func(st Statement) {
		st.Locks, st.Undo = r.locks(st.SQL, of), cmp.Or(st.Undo, r.undo(st.SQL, of))
		tree.Statements = append(tree.Statements, st)
	}
	tree.Statements = []Statement{}
	var planned []treeschema.Column
	for _, c := range s.added {
		if c.Charset != "" && c.Equality == "exact" {
			c.Collation = r.dialect.Collation(r.version)
		}
		planned = append(planned, c)
		keeps := "pathlock keeps it"
		if s.pair != nil && c.Name == s.Tree {
			keeps = "the model's hook fills it in new rows"
		}
		add(Statement{SQL: "ALTER TABLE " + r.dialect.Quote(s.Table.Table) + " ADD COLUMN " + r.dialect.QuotePart(c.Name) + " " + r.typeOf(c), Why: keeps + "; the table lacks it"})
	}
	for _, st := range s.fills(r.dialect) {
		if strings.Contains(r.version, "MariaDB") && strings.Contains(st.SQL, "STRAIGHT_JOIN") {
			st.Why += "; MariaDB refuses this while sql_safe_updates is on"
		}
		if st.depends {
			tree.Notes = append(tree.Notes, st.Why+": if old code has written them since the parent was filled, run "+st.SQL+"; otherwise the repair puts them at the top")
		} else {
			add(st)
		}
	}
	switch noNull := slices.Contains(of.foreign, s.Parent) && !bool(of.columns[s.Parent].Nullable); {
	case s.self && noNull:
		tree.Notes = append(tree.Notes, fmt.Sprintf("a row at the top is its own parent, for which the foreign key on %s leaves nothing else: let the column be NULL, and give this command again", s.Parent))
	case s.self:
		add(s.zeroTops(r.dialect))
	}
	var found []treeschema.Finding
	for i, part := range append([]shape{*s}, s.leaves()...) {
		if of = part.of; i > 0 {
			r.shorten(&part)
		}
		for _, c := range part.short {
			modify := "ALTER TABLE " + r.dialect.Quote(part.Table.Table) + " MODIFY " + r.dialect.QuotePart(c.Name) + " "
			planned = append(planned, c)
			add(Statement{SQL: modify + r.typeOf(c), Why: "no index holds a " + of.columns[c.Name].Type + " in full; this type leaves the values that were found room to grow"})
		}
		model := doctor.ModelOf(part.Table, part.columns())
		model.Planned, model.TextKeys = planned, part.textKeys()
		if i == 0 && of.alias != "" {
			model.Lookups = [][]string{{of.alias}}
		}
		for i := range model.Marks {
			part.zeroMark(&model.Marks[i])
		}
		lacks, err := treeschema.Tables(ctx, r.db, r.dialect, []treeschema.Model{model})
		if err != nil {
			return nil, err
		}
		for _, f := range lacks {
			for _, sql := range f.Statements {
				add(Statement{SQL: sql, Why: f.Missing + ": " + f.Why})
			}
			if len(f.Statements) == 0 {
				tree.Notes = append(tree.Notes, f.String())
			}
		}
		found, planned = append(found, lacks...), nil
	}
	of = s.of
	constraints, err := r.keepPair(ctx, s)
	for _, st := range constraints {
		add(st)
	}
	return found, err
}

// zeroTops is the statement that gives rows at the top the zero value for a parent.
func (s *shape) zeroTops(d *dialect.Dialect) Statement {
	parent, is := d.QuotePart(s.Parent), d.QuotePart(s.Key)
	zero, _ := s.noParents(d)
	at := " = " + zero
	if zero == "NULL" {
		at = " IS NULL"
	}
	update := "UPDATE " + d.Quote(s.Table.Table) + " SET " + parent + " = "
	return Statement{
		SQL: update + zero + " WHERE " + s.byKey(d) + parent + " = " + is, Why: "a row at the top has no parent: change what reads and writes its own key there",
		Undo: update + is + " WHERE " + s.byKey(d) + parent + at,
	}
}

// columns are the table's, with the added ones.
func (s *shape) columns() (columns []treeschema.Column) {
	for _, c := range s.of.columns {
		columns = append(columns, c)
	}
	return columns
}

// textKeys are the columns of keys that are texts.
func (s *shape) textKeys() (keys []string) {
	for _, name := range []string{s.Tree, s.Parent, s.Key} {
		if kind := s.of.kind(name); name != "" && (kind == dialect.Text || kind == dialect.UUID) {
			keys = append(keys, name)
		}
	}
	return keys
}

// zeroMark says of a flag that 0 is in live rows, besides NULL, and of a time where rows have it.
func (s *shape) zeroMark(m *treeschema.Mark) {
	kind, hasZero := s.of.kind(m.Column), slices.Contains(s.of.cells[m.Column], cell{String: "0", Valid: true})
	switch {
	case m.When != "":
	case kind == dialect.Number && s.isTimestamp():
		if hasZero {
			m.Live = "0"
		}
	case kind == dialect.Number, kind == dialect.Bits:
		m.Live, m.OrNull = "0", bool(s.of.columns[m.Column].Nullable)
	case kind == dialect.Bool:
		m.OrNull = bool(s.of.columns[m.Column].Nullable)
	}
}

// when is the value of the deletion mark as SQL.
func (s *shape) when() string {
	if s.DeletedWhen == "" {
		return ""
	}
	literal, _ := dialect.MarkLiteral(s.DeletedWhen, s.of.kind(s.Deleted) == dialect.Number)
	return literal
}

// typeOf is the definition of a column.
func (r *reader) typeOf(c treeschema.Column) string {
	typ := c.Type
	switch {
	case r.dialect == dialect.MySQL && c.Charset != "":
		typ += " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
	case r.dialect == dialect.PostgreSQL && c.Equality != "":
		typ += " COLLATE " + r.dialect.QuotePart(cmp.Or(c.Collation, "C"))
	}
	if !c.Nullable {
		typ += " NOT NULL"
	}
	return typ + c.Rest
}

// pace is about how many rows a server reads or writes in a second for a change of the schema, and
// updatePace for an UPDATE that looks for the row above each.
const pace, updatePace = 100_000, 20_000

// locks says what a statement keeps out, and about how long.
func (r *reader) locks(sql string, t *table) string {
	size, took := shown.Count(t.rows, "row", "rows"), "under a second"
	if t.more {
		size = fmt.Sprintf("more than %d rows", t.rows)
	}
	rate := pace
	if strings.HasPrefix(sql, "UPDATE") {
		rate = updatePace
	}
	if t.rows >= rate {
		took = "about " + (time.Duration(t.rows/rate) * time.Second).String()
	}
	says := "writers wait"
	switch {
	case r.dialect == dialect.SQLite:
		says = "writers of the file wait"
	case strings.HasPrefix(sql, "UPDATE"):
		says = "writers of the same rows wait"
	case strings.Contains(sql, " ADD COLUMN "):
		return "nothing, after locking the table for an instant"
	case r.dialect == dialect.MySQL && strings.Contains(sql, " KEY "):
		says = "nothing, after locking the table for an instant"
	case r.dialect == dialect.PostgreSQL && strings.HasPrefix(sql, "CREATE"):
		says = "writers wait, unless it is CREATE INDEX CONCURRENTLY"
	case r.dialect == dialect.PostgreSQL:
		says = "readers and writers wait"
	case strings.Contains(sql, " MODIFY "):
		says = "writers wait while the table is copied"
	}
	return fmt.Sprintf("%s: %s, %s", says, size, took)
}

// name matches a quoted name in a statement.
const name = "((?:[`\"](?:[^`\"]|``|\"\")+[`\"]\\.?)+)"

var (
	addsColumn  = regexp.MustCompile("^ALTER TABLE " + name + " ADD COLUMN " + name)
	addsKey     = regexp.MustCompile("^ALTER TABLE " + name + " ADD (?:UNIQUE )?KEY " + name + ` \(([^,()]+)`)
	addsIndex   = regexp.MustCompile("^CREATE (?:UNIQUE )?INDEX " + name)
	altersType  = regexp.MustCompile("^(ALTER TABLE " + name + " (?:MODIFY|ALTER COLUMN) )" + name + "( TYPE)?")
	altersTable = regexp.MustCompile("^(ALTER TABLE " + name + ") ENGINE")
)

// undo is the way back from a statement; "" where the way back from another is its own, too.
func (r *reader) undo(sql string, t *table) string {
	if m := addsColumn.FindStringSubmatch(sql); m != nil {
		return "ALTER TABLE " + m[1] + " DROP COLUMN " + m[2]
	}
	if m := addsKey.FindStringSubmatch(sql); m != nil {
		keep := ""
		if slices.ContainsFunc(t.foreign, func(column string) bool { return r.dialect.QuotePart(column) == m[3] }) {
			keep = "ADD KEY (" + m[3] + "), " // MySQL has dropped the foreign key's own
		}
		return "ALTER TABLE " + m[1] + " " + keep + "DROP KEY " + m[2]
	}
	if m := addsIndex.FindStringSubmatch(sql); m != nil {
		if schema, _, other := strings.Cut(t.name, "."); other && r.dialect == dialect.PostgreSQL {
			m[1] = r.dialect.QuotePart(schema) + "." + m[1]
		}
		return "DROP INDEX " + m[1]
	}
	if m := altersType.FindStringSubmatch(sql); m != nil {
		for _, c := range t.columns {
			if r.dialect.QuotePart(c.Name) == m[3] {
				if r.dialect == dialect.PostgreSQL {
					c.Nullable = true // which the statement leaves as it is
				}
				return m[1] + m[3] + m[4] + " " + r.typeOf(c)
			}
		}
	}
	if m := altersTable.FindStringSubmatch(sql); m != nil {
		return m[1] + " ENGINE = MyISAM"
	}
	return ""
}
