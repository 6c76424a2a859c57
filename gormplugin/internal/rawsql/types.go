package rawsql

import (
	"slices"
	"strings"
)

// isCast reports whether the expression at i is a column, in parentheses or not, cast or not, and
// to no type that cuts it.
func (s *statement) isCast(i int, column token) bool {
	casting := false
	for s.at(i).isSign('(') || s.at(i).is("CAST") && s.at(i+1).isSign('(') {
		i++
	}
	if !s.at(i).isColumn(column) {
		return false
	}
	for i++; i < len(s.tokens); i++ {
		t := s.at(i)
		switch {
		case t.isSign(','):
			// Not the comma of numeric(10, 2).
			if s.at(i+1).isAny("ALTER", "ADD", "DROP", "VALIDATE", "SET") {
				return true
			}
		case t.isSign(':'), t.is("AS"):
			casting = true
		case t.isSign('('):
			if s.isCharacter(i - 1) {
				return false
			}
		case t.isSign(')'), t.isSign('['), t.isSign(']'), t.isSign('.'):
		case (t.kind == word || t.kind == name) && casting:
			if s.cutsTo(i) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isColumn reports whether a token names the same column as another one of PostgreSQL, which folds
// what is not in quotes.
func (t token) isColumn(other token) bool {
	folded := func(t token) string {
		if t.kind == word {
			return lowerASCII(t.text)
		}
		return t.text
	}
	return (t.kind == word || t.kind == name) && (other.kind == word || other.kind == name) && folded(t) == folded(other)
}

// isCharacter reports whether the type that ends at i is one of texts, for which a length can stand
// behind it.
func (s *statement) isCharacter(i int) bool {
	t := s.at(i)
	return t.isAny("VARCHAR", "VARYING", "CHAR", "CHARACTER", "NCHAR", "BPCHAR") || t.kind == name && (t.text == "varchar" || t.text == "bpchar")
}

// cutsTo reports whether the type at i is one that pads texts, or cuts them without an error:
// PostgreSQL's CHAR of any length, "char" and name.
func (s *statement) cutsTo(i int) bool {
	t := s.at(i)
	return t.isAny("CHAR", "CHARACTER", "NCHAR") && !s.at(i+1).is("VARYING") || t.isAny("BPCHAR", "NAME") ||
		t.kind == name && (t.text == "char" || t.text == "bpchar" || t.text == "name")
}

// cuts reports whether there is a TYPE at i by which PostgreSQL's ALTER COLUMN … TYPE pads or cuts
// the column.
func (s *statement) cuts(i int) bool {
	column := s.at(i-2).is("ALTER") || s.at(i-2).is("COLUMN") && s.at(i-3).is("ALTER") || s.at(i-1).is("DATA") && s.at(i-2).is("SET")
	if !s.grammar.dollarQuotes || !s.at(i).is("TYPE") || !column {
		return false
	}
	i++
	for s.canName(s.at(i)) && s.at(i+1).isSign('.') {
		i += 2 // pg_catalog
	}
	return s.cutsTo(s.skip(i, "NATIONAL"))
}

// engines are those that keep the rows of a table that they take over.
var engines = []string{
	"INNODB", "XTRADB", "ROCKSDB", "NDB", "NDBCLUSTER", "MYISAM", "ARIA", "MEMORY", "HEAP", "CSV", "ARCHIVE", "TOKUDB", "COLUMNSTORE", "S3",
}

// forgets reports whether there is an ENGINE at i that does not keep the rows, as BLACKHOLE, or
// that is not known to. A column can have that name, too.
func (s *statement) forgets(i int) bool {
	isColumn := s.at(i-1).isSign('(') || s.at(i-1).isAny("COLUMN", "ADD", "DROP", "MODIFY", "CHANGE", "ALTER", "RENAME", "TO", "AFTER", "EXISTS")
	if !s.grammar.joinedTargets || !s.at(i).is("ENGINE") || isColumn {
		return false
	}
	i++
	if s.at(i).isSign('=') {
		i++
	}
	t := s.at(i)
	switch t.kind {
	case word, name, literal:
		return !slices.ContainsFunc(engines, func(e string) bool { return strings.EqualFold(t.text, e) })
	default:
		return false
	}
}
