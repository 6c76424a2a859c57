package adopt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// spelling is how a database writes expressions over texts.
type spelling struct {
	// length of a text, and butLast, a text without its last character.
	length, butLast string
	// dir is a text up to its last separator, which is the second argument.
	dir string
	// joined is a text that compares fast, and byte by byte, with another one, in subqueries that
	// end in end.
	joined, end string
	// least and greatest are keys of a group, and bytes is a literal.
	least, greatest, bytes string
	// uuid makes a literal one.
	uuid string
}

// spellings are those of the databases. PostgreSQL has no MIN of UUIDs. MySQL does not join fast by
// long texts, nor SQLite by an expression without a type, or in a subquery that it may flatten
// because it has no LIMIT.
var spellings = map[*dialect.Dialect]spelling{
	dialect.MySQL: {
		length: "CHAR_LENGTH(%s)", butLast: "LEFT(%[1]s, CHAR_LENGTH(%[1]s) - 1)",
		dir:    "LEFT(%[1]s, CHAR_LENGTH(%[1]s) - CHAR_LENGTH(SUBSTRING_INDEX(%[1]s, '%[2]s', -1)))",
		joined: "SHA2(%s, 256)", least: "MIN(%s)", greatest: "MAX(%s)", bytes: "X'%s'",
	},
	dialect.PostgreSQL: {length: "LENGTH(%s)", butLast: "LEFT(%s, -1)", dir: "RTRIM(%[1]s, REPLACE(%[1]s, '%[2]s', ''))", joined: "%s", least: "(ARRAY_AGG(%[1]s ORDER BY %[1]s))[1]", greatest: "(ARRAY_AGG(%[1]s ORDER BY %[1]s DESC))[1]", bytes: "'\\x%s'::bytea", uuid: "::uuid"},
	dialect.SQLite:     {length: "LENGTH(%s)", butLast: "SUBSTR(%[1]s, 1, LENGTH(%[1]s) - 1)", dir: "RTRIM(%[1]s, REPLACE(%[1]s, '%[2]s', ''))", joined: "CAST(%s AS TEXT)", end: " LIMIT -1", least: "MIN(%s)", greatest: "MAX(%s)", bytes: "X'%s'"},
}

// highest are the highest numbers of MySQL's unsigned types, up to the highest key that fsck knows.
var highest = map[string]string{"tinyint": "255", "smallint": "65535", "mediumint": "16777215", "int": "4294967295", "bigint": "9223372036854775807"}

// fills are the statements that fill the added columns from the path: one for each, so that it can
// run again beside unique indexes.
func (s *shape) fills() (statements []Statement) {
	d := s.of.dialect
	q, table, spelt := d.QuotePart, d.Quote(s.Table.Table), spellings[d]
	if s.pair != nil && s.isAdded(s.Tree) {
		statements = append(statements, Statement{
			SQL: fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s(%s IS NULL OR NOT (%s))", table, q(s.Tree), s.pairSQL(), s.byKey(), q(s.Tree), s.isPairSQL()),
			Why: "the tree is " + strings.Join(s.pair, " and "),
		})
	}
	late := s.late()
	if !s.isAdded(s.Parent) && late == 0 {
		return statements
	}
	path := s.pathColumns(places{})[0]
	column, form := path.name, path.form
	stored := q(column)
	if d == dialect.PostgreSQL {
		stored += ` COLLATE "C"` // a collation may find no text in another, or be other than the name's
	}
	root := "'" + strings.ReplaceAll(form.Print(""), "'", "''") + "'"
	if cells := s.of.cells[column]; form.OfParent && !slices.Equal(cells, topped(cells, form)) {
		stored = "COALESCE(" + stored + ", " + root + ")"
	}
	text := stored
	if form.Trail != "" {
		text = fmt.Sprintf(spelt.butLast, text)
	}
	dir := fmt.Sprintf(spelt.dir, text, form.Separator)
	if s.isAdded(s.Name) {
		statements = append(statements, Statement{
			SQL: fmt.Sprintf("UPDATE %s SET %s = SUBSTR(%s, %s + 1) WHERE %s%s IS NOT NULL", table, q(s.Name), text, fmt.Sprintf(spelt.length, dir), s.byKey(), stored),
			Why: "the name is the last one of the path",
		})
	}
	own, above, top := stored, dir, " AND "+stored+" <> "+root
	if form.Trail == "" {
		above = fmt.Sprintf(spelt.butLast, dir)
	}
	if form.OfParent {
		own, above, top = s.ownPath(stored, form), stored, ""
	}
	where, tree, same := " WHERE "+own+" <> "+root, "", ""
	if s.Tree != "" {
		tree, same = q(s.Tree)+" AS tree, ", " AND a.tree = b.tree"
	}
	live := "1 = 1"
	if s.Deleted != "" {
		kind := s.of.kind(s.Deleted)
		when, _ := dialect.MarkLiteral(s.DeletedWhen, kind == dialect.Number) // "" for none
		live = d.Live(q(s.Deleted), kind, when)
	}
	rows := func(path, where string) string {
		return fmt.Sprintf("(SELECT %s AS own, %s%s AS path FROM %s%s%s)", q(s.Key), tree, fmt.Sprintf(spelt.joined, path), table, where, spelt.end)
	}
	none, missing := s.noParents()
	// Each row of below gets as its parent the row of aboves that has the path above it.
	fill := func(below, aboves, up, parent string) string {
		return strings.NewReplacer("@table", table+" AS c", "@belongs", "c."+q(s.Key)+" = j.own", "@where", "1 = 1",
			"@others", fmt.Sprintf("(SELECT b.own, %s AS up FROM %s AS b LEFT JOIN %s AS a ON a.path = b.path%s AND a.own <> b.own GROUP BY b.own) AS j",
				up, rows(above, below), rows(own, where+" AND "+aboves), same),
			"@set", fmt.Sprintf("SET %s = COALESCE(j.up, %s)", q(s.Parent), parent)).Replace(d.AssignBelow)
	}
	only := "CASE WHEN COUNT(a.own) = 1 THEN " + fmt.Sprintf(spelt.least, "a.own") + " END"
	if !s.isAdded(s.Parent) {
		atTop := d.NoParentSQLOfKind(q(s.Parent), s.of.kind(s.Parent))
		return append(statements, Statement{
			SQL:     fill(fmt.Sprintf(" WHERE %s AND NOT (%s = %s%s)", atTop, above, root, top), live, only, "c."+q(s.Parent)),
			Why:     shown.Count(late, "row has", "rows have") + " no parent, and the path of one below others",
			depends: true,
		})
	}
	statements = append(statements, Statement{
		SQL: fill("", live, only, fmt.Sprintf("CASE WHEN %s = %s%s THEN %s ELSE %s END", above, root, top, none, missing)),
		Why: fmt.Sprintf("the parent is the only row with the path above; %s the parent %s, which fsck finds", shown.Count(s.judge().orphans, "row has none, or several, and gets", "rows have none, or several, and get"), missing),
	})
	if s.Deleted != "" {
		statements = append(statements, Statement{
			SQL: fill(" WHERE NOT ("+live+") AND "+q(s.Parent)+" = "+missing, "NOT ("+live+")", fmt.Sprintf(spelt.greatest, "a.own"), missing),
			Why: "the parent of a deleted row may be deleted, too: it is the newest with the path above",
		})
	}
	return statements
}

// noParents are the values of a parent column that stand for no row: at the top, and where the row
// above is missing.
func (s *shape) noParents() (none, missing string) {
	spelt := spellings[s.of.dialect]
	none, missing = "''", "'-1'"
	switch s.of.kind(s.Key) {
	case dialect.Number:
		none, missing = "0", "-1"
		if typ, unsigned := strings.CutSuffix(s.of.columns[s.Parent].Type, " unsigned"); unsigned {
			typ, _, _ = strings.Cut(typ, "(")
			missing = highest[typ]
		}
	case dialect.UUID:
		none, missing = "'"+treetable.NilUUID+"'"+spelt.uuid, "'ffffffff-ffff-ffff-ffff-ffffffffffff'"+spelt.uuid
	case dialect.Bytes: // as long as MySQL makes them
		length := int(min(max(s.of.columns[s.Parent].Length, 1), treetable.MostZeros))
		none, missing = fmt.Sprintf(spelt.bytes, strings.Repeat("00", length)), fmt.Sprintf(spelt.bytes, strings.Repeat("ff", length))
	}
	if s.of.columns[s.Parent].Nullable {
		none = "NULL"
	}
	return none, missing
}

// late counts the live rows that have no parent, but a path below others: code that does not know
// the parent column may have written them.
func (s *shape) late() int {
	if s.isAdded(s.Parent) || s.self || s.ParentTop != "" {
		return 0
	}
	of, last := s.pathColumns(places{})[0], s.Key
	if s.Path != "" {
		last = s.Name
	}
	return s.count(func(i int) bool {
		stored := s.of.cells[of.name][i]
		path := of.form.Own(stored.String, s.of.cells[last][i].String)
		return stored.Valid && s.isTop(i) && of.form.Refuse(path) == nil && strings.Count(path, "/") > 1
	})
}

// ownPath is the expression for a row's own path, where the column has its parent's.
func (s *shape) ownPath(stored string, form treetable.Form) string {
	parts := []string{stored, s.of.dialect.QuotePart(cmp.Or(s.Name, s.Key))}
	if form.Trail != "" {
		parts = append(parts, "'"+form.Trail+"'")
	} else {
		parts = slices.Insert(parts, 1, fmt.Sprintf("CASE WHEN %s = '' AND '%s' = '' THEN '' ELSE '%s' END", parts[0], form.Lead, form.Separator))
	}
	return concat(s.of.dialect, parts...)
}

// concat is the expression for texts one after the other.
func concat(d *dialect.Dialect, parts ...string) string {
	if d == dialect.MySQL {
		return "CONCAT(" + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(parts, " || ")
}

// byKey returns a condition that all keys meet: MySQL's safe updates want a range of an index.
func (s *shape) byKey() string {
	zero, least := "''", s.of.cells[s.Key]
	switch s.of.kind(s.Key) {
	case dialect.Number:
		zero = "0"
	case dialect.UUID: // no text that is empty
		zero = "'" + treetable.NilUUID + "'"
	}
	if s.of.dialect != dialect.MySQL || zero == "0" && len(least) > 0 && (least[0].String == "0" || strings.HasPrefix(least[0].String, "-")) {
		return ""
	}
	return s.of.dialect.QuotePart(s.Key) + " > " + zero + " AND "
}
