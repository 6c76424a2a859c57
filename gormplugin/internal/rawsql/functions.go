package rawsql

import (
	"strings"
)

// OnlyReads reports whether sql is one SELECT that only reads. A function that only a view calls is
// not seen.
func (g *Grammar) OnlyReads(sql string) bool {
	_, savepoint := PlainSavepoint(sql)
	return savepoint || g.isPlainRead(sql) && !g.mayCallStored(sql)
}

// mayCallStored reports whether a SELECT may call a function that somebody has stored: one with a
// schema or in quotes, or one that is not known to be the server's own.
func (g *Grammar) mayCallStored(sql string) bool {
	if !g.storedFunctions || strings.IndexByte(sql, '(') < 0 {
		return false
	}
	if len(versionMarks(sql)) > 0 {
		return true
	}
	for _, r := range g.readings(sql) {
		s := statement{grammar: g, tokens: g.tokens(sql, r)}
		for i, t := range s.tokens {
			if !t.isSign('(') {
				continue
			}
			before := s.at(i - 1)
			if before.kind == name || before.kind == word && (s.at(i-2).isSign('.') || !before.isAny(readers...)) {
				return true
			}
		}
	}
	return false
}

// readers are the words that may stand before a parenthesis in a SELECT that writes nothing:
// keywords, the standard aggregates, and what the plugin's own queries call. Any other function
// counts as a write, which costs a call of the functions before the COMMIT.
var readers = strings.Fields(`
	ALL AND ANY BETWEEN BY CASE DISTINCT ELSE EXCEPT EXISTS FROM IN INTERSECT JOIN LATERAL LIKE LIMIT NOT ON OR SELECT THEN UNION
	USING VALUES WHEN WHERE WITH
	AVG COUNT MAX MIN SUM
	CAST CHAR CHAR_LENGTH COALESCE CONVERT LEFT LENGTH REPLACE
	AS`)
