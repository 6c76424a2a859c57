package adopt

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// statements lists what the schema of a shape, and those of its leaves, need, and returns all that
// package treeschema finds.
func (r *reader) statements(ctx context.Context, parts []shape, tree *Tree) ([]treeschema.Finding, error) {
	s, of, notes := &parts[0], parts[0].of, (*remarks)(&tree.Notes)
	add := func(st Statement) { tree.Statements = append(tree.Statements, r.complete(st, of)) }
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
		add(Statement{SQL: "ALTER TABLE " + r.dialect.Quote(s.Table.Table) + " ADD COLUMN " + r.dialect.QuotePart(c.Name) + " " + c.Definition(r.dialect), Why: keeps + "; the table lacks it"})
	}
	for _, st := range s.fills() {
		if strings.Contains(r.version, "MariaDB") && strings.Contains(st.SQL, "STRAIGHT_JOIN") {
			st.Why += "; MariaDB refuses this while sql_safe_updates is on"
		}
		notes.say(st.depends, "%s: if old code has written them since the parent was filled, run %s; otherwise the repair puts them at the top", st.Why, st.SQL)
		if !st.depends {
			add(st)
		}
	}
	noNull := of.Foreign[s.Parent] != "" && !bool(of.columns[s.Parent].Nullable)
	notes.say(s.self && noNull, "a row at the top is its own parent, for which the foreign key on %s leaves nothing else: let the column be NULL, and give this command again", s.Parent)
	if s.self && !noNull {
		add(s.zeroTops())
	}
	var found []treeschema.Finding
	for i, part := range parts {
		of = part.of
		for _, c := range part.short {
			modify := "ALTER TABLE " + r.dialect.Quote(part.Table.Table) + " MODIFY " + r.dialect.QuotePart(c.Name) + " "
			planned = append(planned, c)
			add(Statement{SQL: modify + c.Definition(r.dialect), Why: "no index holds a " + of.columns[c.Name].Type + " in full; this type leaves the values that were found room to grow"})
		}
		model := doctor.ModelOf(r.dialect, part.Table, slices.Collect(maps.Values(of.columns)))
		model.Planned = planned
		if i == 0 && of.stated.Alias != "" {
			model.Lookups = [][]string{{of.stated.Alias}}
		}
		for i := range model.Marks {
			part.allowNull(&model.Marks[i])
		}
		lacks, err := treeschema.Tables(ctx, r.db, r.dialect, []treeschema.Model{model})
		if err != nil {
			return nil, err
		}
		for _, f := range lacks {
			for _, sql := range f.Statements {
				add(Statement{SQL: sql, Why: f.Missing + ": " + f.Why})
			}
			notes.say(len(f.Statements) == 0, "%s", f)
		}
		found, planned = append(found, lacks...), nil
	}
	of = s.of
	return found, r.keepPair(ctx, s, add)
}

// zeroTops is the statement that gives rows at the top the zero value for a parent.
func (s *shape) zeroTops() Statement {
	d := s.of.dialect
	parent, is := d.QuotePart(s.Parent), d.QuotePart(s.Key)
	zero, _ := s.noParents()
	at := " = " + zero
	if zero == "NULL" {
		at = " IS NULL"
	}
	update := "UPDATE " + d.Quote(s.Table.Table) + " SET " + parent + " = "
	return Statement{
		SQL: update + zero + " WHERE " + s.byKey() + parent + " = " + is, Why: "a row at the top has no parent: change what reads and writes its own key there",
		Undo: update + is + " WHERE " + s.byKey() + parent + at,
	}
}

// allowNull notes that NULL, too, means a live row in a flag, but not in a time that is a number.
func (s *shape) allowNull(m *treeschema.Mark) {
	switch kind := s.of.kind(m.Column); {
	case m.When != "", kind == dialect.Number && s.isTimestamp():
	case kind == dialect.Number, kind == dialect.Bits, kind == dialect.Bool:
		m.OrNull = bool(s.of.columns[m.Column].Nullable)
	}
}

// pace is about how many rows a server reads or writes in a second for a change of the schema, and
// updatePace for an UPDATE that looks for the row above each.
const pace, updatePace = 100_000, 20_000

// name matches a quoted name in a statement.
const name = "((?:(?:`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\")\\.?)+)"

// instant is how long a change of the catalogue alone locks a table.
const instant = "nothing, after locking the table for an instant"

// kind is a kind of statements that begin alike: whom they keep out on MySQL and PostgreSQL, and
// the way back from them, "" if that of another kind undoes them, too.
type kind struct {
	like                  *regexp.Regexp
	mysql, postgres, undo string
}

var kinds = []kind{
	{regexp.MustCompile("^UPDATE "), "writers of the same rows wait", "writers of the same rows wait", ""},
	{regexp.MustCompile("^ALTER TABLE " + name + " ADD COLUMN " + name), instant, instant, "ALTER TABLE $1 DROP COLUMN $2"},
	{regexp.MustCompile("^ALTER TABLE " + name + " ADD (?:UNIQUE )?KEY " + name + ` \(([^,()]+)`), instant, "", "ALTER TABLE $1 DROP KEY $2"},
	{regexp.MustCompile("^CREATE (?:UNIQUE )?INDEX " + name), "", "writers wait, unless it is CREATE INDEX CONCURRENTLY", "DROP INDEX $1"},
	{regexp.MustCompile("^(ALTER TABLE " + name + " (?:MODIFY|ALTER COLUMN) )" + name + "( TYPE)?"), "writers wait while the table is copied", "readers and writers wait", "$1$3$4 "},
	{regexp.MustCompile("^(ALTER TABLE " + name + ") ENGINE"), "writers wait", "", "$1 ENGINE = MyISAM"},
	{regexp.MustCompile(""), "writers wait", "readers and writers wait", ""},
}

// complete adds to a statement whom it keeps out, about how long, and the way back.
func (r *reader) complete(st Statement, t *table) Statement {
	kind := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.like.MatchString(st.SQL) })]
	match := kind.like.FindStringSubmatch(st.SQL)
	st.Undo = cmp.Or(st.Undo, r.undo(kind.like.ReplaceAllString(match[0], kind.undo), match, t))
	size, took, rate := shown.Count(t.rows, "row", "rows"), "under a second", pace
	if t.more {
		size = "more than " + size
	}
	if strings.HasPrefix(st.SQL, "UPDATE") {
		rate = updatePace
	}
	if t.rows >= rate {
		took = "about " + (time.Duration(t.rows/rate) * time.Second).String()
	}
	st.Locks = map[*dialect.Dialect]string{dialect.MySQL: kind.mysql, dialect.PostgreSQL: kind.postgres, dialect.SQLite: "writers of the file wait"}[r.dialect]
	if st.Locks != instant || !strings.Contains(st.SQL, " ADD COLUMN ") {
		st.Locks += ": " + size + ", " + took
	}
	return st
}

// undo completes the way back from a statement with what the table had before.
func (r *reader) undo(undo string, match []string, t *table) string {
	is := func(column string) bool { return len(match) > 3 && r.dialect.QuotePart(column) == match[3] }
	if slices.ContainsFunc(slices.Collect(maps.Keys(t.Foreign)), is) { // MySQL has dropped the foreign key's own
		undo = strings.Replace(undo, " DROP KEY", " ADD KEY ("+match[3]+"), DROP KEY", 1)
	}
	if schema, _, other := strings.Cut(t.name, "."); other && r.dialect == dialect.PostgreSQL {
		undo = strings.Replace(undo, "DROP INDEX ", "DROP INDEX "+r.dialect.QuotePart(schema)+".", 1)
	}
	for _, c := range t.columns {
		if strings.HasSuffix(undo, " ") && is(c.Name) {
			c.Nullable = c.Nullable || r.dialect == dialect.PostgreSQL // which the statement leaves as it is
			undo += c.Definition(r.dialect)
		}
	}
	return undo
}
