package treeschema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// A unique index may cover only some rows, by a condition or a generated column. The check knows
// the expressions that AutoMigrate writes for that, and judges no others.

// noise is what databases add to an expression, or leave out. It also matches literals, which are
// not noise.
var noise = regexp.MustCompile(`(?s)(?:\b_\w+)?'(?:''|[^'])*'|(?:\s|--[^\n]*|/\*.*?\*/)+|::(?:character varying|timestamp with(?:out)? time zone|\w+)(?:\(\d+\))?(?:\[\])?|["\x60\[\]()]`)

// Databases respell some of what they are given.
var (
	spellings = strings.NewReplacer("=anyarray", "in", "=false", "=0")
	bytes     = regexp.MustCompile(`x'(\w+)'`)
	negative  = regexp.MustCompile(`'(-\d+)'`)
)

// normal returns SQL in lower case, without comments, casts and the quotes around names, and with
// the given text for each gap. If that is "", it leaves out parentheses, too.
func normal(text, space string) string {
	text = noise.ReplaceAllStringFunc(strings.ReplaceAll(text, `\'`, "'"), func(s string) string {
		switch {
		case s[0] == '_': // the character set of the literal
			return s[strings.IndexByte(s, '\''):]
		case s[0] == '\'', space != "" && strings.ContainsAny(s[:1], "()"):
			return s
		case strings.ContainsAny(s[:1], ":\"`[]()"):
			return ""
		default:
			return space
		}
	})
	return strings.ToLower(text)
}

// spelt returns an expression in one spelling for all databases.
func spelt(text string) string {
	return negative.ReplaceAllString(bytes.ReplaceAllString(spellings.Replace(normal(text, "")), "0x$1"), "$1")
}

// same reports whether an expression of the database is one that AutoMigrate writes. Parentheses do
// not count: what AutoMigrate writes consists of alternatives that AND connects, and any other
// grouping of them holds for more rows, never for fewer.
func (c *checker) same(theirs, ours string) bool {
	theirs, ours = spelt(theirs), spelt(ours)
	for _, m := range c.table.Marks {
		// If NULL is in no row, or in no live row, it may be allowed or not.
		if m.When == "" && !m.OrNull || !bool(c.columns[m.Column].Nullable) {
			orNull := strings.ToLower(m.Column) + "isnullor"
			theirs, ours = strings.ReplaceAll(theirs, orNull, ""), strings.ReplaceAll(ours, orNull, "")
		}
	}
	return theirs == ours
}

// isMySQL reports whether the table is on MySQL or MariaDB.
func (c *checker) isMySQL() bool { return c.dialect == dialect.MySQL }

// isTop is the condition that a row has no parent, which is NULL or the zero value of the column's
// kind, and is live.
func (c *checker) isTop() string {
	parent := c.columns[c.table.Parent]
	return c.dialect.NoParentSQLOfKind(c.dialect.QuotePart(parent.Name), dialect.KindOf(parent.Type)) + c.table.live(" AND ", c.dialect.QuotePart)
}

// keepsApart says which live rows with the same parent and name a unique index keeps apart:
// siblings, and rows at the top. known is false for an index that cannot be judged.
func (c *checker) keepsApart(i index) (siblings, top, known bool) {
	t := c.table
	same := append(t.siblings(), c.alike(i)...)
	siblings, top = true, true
	switch condition := i[0].Condition; {
	case condition == "" || c.same(condition, t.live("", c.dialect.QuotePart)):
	case c.same(condition, c.isTop()), c.same(condition, c.dialect.QuotePart(t.Parent)+" IS NULL"+t.live(" AND ", c.dialect.QuotePart)):
		siblings = false
	default:
		return false, false, false
	}
	for _, p := range i {
		col := c.columns[p.Column]
		generated := !c.dialect.PartialIndexes && col.Expression != ""
		switch {
		case generated && c.same(col.Expression, c.liveValue()):
		case generated && c.same(col.Expression, c.topValue()):
			siblings = false
		case p.Column == "" || col.Expression != "":
			return false, false, false
		case p.Prefix > 0 || !slices.Contains(same, p.Column):
			return false, false, true
		case p.Column == t.Parent && bool(col.Nullable) && !bool(i[0].NullsEqual):
			top = false
		}
	}
	return siblings, top, true
}

// alike returns the deletion marks that have one value in all live rows. NULL is such a value if
// the index treats it as equal to NULL.
func (c *checker) alike(i index) (marks []string) {
	for _, m := range c.table.Marks {
		isOne := !m.OrNull || !bool(c.columns[m.Column].Nullable)
		if m.Live == "NULL" {
			isOne = bool(i[0].NullsEqual)
		}
		if isOne && m.When == "" && !m.isText() {
			marks = append(marks, m.Column)
		}
	}
	return marks
}

// checkUnique looks for the unique indexes that keep siblings, and rows at the top, apart.
func (c *checker) checkUnique() {
	t := c.table
	if t.Name == "" {
		return
	}
	// If the parent cannot be NULL, the index over siblings covers the top, too. Leaves are never
	// at the top.
	siblings, top := false, t.isLeaf() || !bool(c.columns[t.Parent].Nullable)
	var unknown []string
	for _, i := range c.indexes {
		if !i[0].Unique {
			continue
		}
		s, t, known := c.keepsApart(i)
		siblings, top = siblings || s, top || t
		if !known {
			unknown = append(unknown, i[0].Index)
		}
		if slices.ContainsFunc(i, func(p part) bool { return p.Prefix > 0 && p.Column == c.table.Name }) {
			c.found(Finding{
				Severity: Warning, Check: Siblings, Missing: "the unique index " + i[0].Index + " compares only the beginning of " + c.table.Name,
				Why: "it refuses names that are not taken", Advice: "drop it, and create one over the whole names",
			})
		}
	}
	if !siblings {
		c.lacksUnique(Siblings, "no unique index keeps apart live rows with the same "+t.Parent+" and "+t.Name, "two siblings can have one name", unknown, c.createSiblingIndex)
	}
	if !top {
		c.lacksUnique(TopRows, "no unique index keeps apart live rows whose "+t.Parent+" is NULL",
			"two rows at the top of a tree, or two roots, can have one name, as NULL is not equal to NULL", unknown, c.createTopIndex)
	}
}

// lacksUnique reports that a unique index is missing. It names those that cannot be judged: one of
// them may be the missing one.
func (c *checker) lacksUnique(check Check, missing, why string, unknown []string, statements func() ([]string, string)) {
	f := Finding{Severity: Unsafe, Check: check, Missing: missing, Why: why}
	f.Statements, f.Advice = statements()
	if unknown != nil && f.Advice == "" {
		f.Advice = "the check cannot judge " + strings.Join(unknown, ", ") + ": see docs/gorm.md, The schema"
	}
	c.found(f)
}

// leastPrefix is how many characters of a path an index has to hold at least: what has room in
// [olderColumnBytes].
const leastPrefix = 191

// checkPathIndex looks for the index that finds the rows below a path, or the leaves below a row.
func (c *checker) checkPathIndex() {
	if len(c.table.paths()) == 0 {
		return
	}
	path, why := c.table.paths()[0], "a move reads the whole table, and may lock all of it"
	if c.table.isLeaf() { // found by its parent
		path, why = c.table.Parent, "a rename above reads the whole table, and may lock all of it"
		if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Check == Siblings && f.Adds() }) {
			return // by an index that begins so
		}
	}
	if slices.ContainsFunc(c.indexes, func(i index) bool { return c.leadsTo(i, path) }) {
		return
	}
	f := Finding{Severity: Warning, Check: PathIndex, Missing: "no index begins with " + strings.Join(c.table.inTree(path), ", "), Why: why}
	f.Statements, f.Advice = c.createPathIndex(path)
	c.found(f)
}

// checkLookups looks for the unique indexes of the columns that requests find rows by.
func (c *checker) checkLookups() {
	for _, columns := range c.table.Lookups {
		if slices.ContainsFunc(c.indexes, func(i index) bool { return c.tellsApart(i, columns) }) {
			continue
		}
		f := Finding{
			Severity: Warning, Check: Lookup, Missing: "no unique index is over " + strings.Join(columns, ", "),
			Why: "requests look rows up by that: slowly without an index, and not at all where two rows have the same",
		}
		if f.Advice = c.adviceAgainst(columns); f.Advice == "" {
			f.Statements = []string{c.create("UNIQUE ", columns[len(columns)-1], c.parts(columns), "")}
		}
		c.found(f)
	}
}

// tellsApart reports whether a unique index keeps live rows from having the same values in some
// columns.
func (c *checker) tellsApart(i index, columns []string) bool {
	same := append(c.alike(i), columns...)
	isOther := func(p part) bool {
		return p.Prefix > 0 || !slices.Contains(same, p.Column) && !c.same(c.columns[p.Column].Expression, c.liveValue())
	}
	ofLive := i[0].Condition == "" || c.same(i[0].Condition, c.table.live("", c.dialect.QuotePart))
	return bool(i[0].Unique && !i[0].Idle) && ofLive && !slices.ContainsFunc(i, isOther)
}

// leadsTo reports whether an index holds the live rows of a tree in the order of a path.
func (c *checker) leadsTo(i index, path string) bool {
	begin := c.table.inTree(path)
	if bool(i[0].Idle) || len(i) < len(begin) || i[0].Column != begin[0] || i[len(begin)-1].Column != path {
		return false
	}
	last := i[len(begin)-1]
	return (last.Prefix == 0 || last.Prefix >= leastPrefix) && (bool(last.Ordered) || c.table.isLeaf()) &&
		(i[0].Condition == "" || c.same(i[0].Condition, c.table.live("", c.dialect.QuotePart)))
}
