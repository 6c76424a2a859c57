package treeschema

import "fmt"

// compares implements [dialect].
func (sqlite) compares(c column, _ bool) (Severity, string, bool) {
	switch {
	case c.equal == exactly:
		return Warning, "", true
	case c.collation == "":
		return Warning, "its type may turn a text into a number", false
	default:
		return Warning, "it treats texts as equal that differ", false
	}
}

// primaryKey implements [dialect].
func (s sqlite) primaryKey(t Table, p *physical) []string {
	return partialUnique(s, t, p, "key", t.Key, "")
}

// keeps implements [dialect]. SQLite cannot change a column.
func (s sqlite) keeps(_ Table, _ *physical, c column, _ int) string {
	return fmt.Sprintf("recreate the table with %s TEXT, see https://sqlite.org/lang_altertable.html#otheralter", s.quote(c.name))
}

// retype implements [dialect].
func (sqlite) retype(Table, *physical, column, int) []string { return nil }

// siblings implements [dialect].
func (s sqlite) siblings(t Table, p *physical) []string {
	return partialUnique(s, t, p, "sibling", t.siblings(), t.live("", s.quote))
}

// topRows implements [dialect].
func (s sqlite) topRows(t Table, p *physical) []string { return partialTop(s, t, p) }

// uniquePaths implements [dialect].
func (s sqlite) uniquePaths(t Table, p *physical, path Text, name string) []string {
	if p.columns[path.Column].equal != exactly {
		return nil
	}
	return uniqueLive(s, t, p, path, name, "")
}

// pathIndex implements [dialect].
func (s sqlite) pathIndex(t Table, p *physical, path Text) []string {
	return []string{fmt.Sprintf("CREATE INDEX %s (%s, %s)",
		indexOn(s, t, p.freeName(t.Table, path.Column)), s.quote(t.Tree), s.quote(path.Column))}
}

// dropIndex implements [dialect]. The index of a constraint cannot be dropped.
func (s sqlite) dropIndex(_ Table, i index) []string {
	if i.constraint {
		return nil
	}
	return []string{"DROP INDEX " + s.quote(i.name)}
}

// renameIndex implements [dialect]. SQLite has no statement for it.
func (sqlite) renameIndex(Table, string, string) []string { return nil }

// plainKey implements [dialect]. SQLite cannot change a constraint.
func (sqlite) plainKey(Table, foreignKey) []string { return nil }
