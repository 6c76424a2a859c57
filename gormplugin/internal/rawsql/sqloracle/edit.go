package sqloracle

import "strings"

// fragments are what edits put into a statement, beside pieces of other statements.
var fragments = []string{
	"suites", "`suites`", `"suites"`, "[suites]", "'suites'", "SUITES", "main.suites", "public . suites", ".suites", "suites*", "ONLY suites", "(suites)",
	"UPDATE", "DELETE", "INSERT INTO", "REPLACE INTO", "MERGE INTO", "TRUNCATE", "COPY", "FROM", "SET", "WITH", "AS", "SELECT", "VALUES", "TABLE",
	"UPDATE suites SET name = 'x'", "DELETE FROM suites", "INSERT INTO suites (id) VALUES (1)", "(DELETE FROM suites RETURNING *)",
	"WITH d AS (DELETE FROM suites RETURNING *)", "EXPLAIN", "EXPLAIN ANALYZE", "CREATE TABLE y AS", "PREPARE p AS", "DECLARE c CURSOR FOR",
	"FOR UPDATE", "ON CONFLICT DO UPDATE SET", "ON DUPLICATE KEY UPDATE", "RETURNING *", "USING", "WHERE", "JOIN suites", ", suites", "s", "AS s",
	";", "; ;", "--", "-- \n", "--\r", "\r", "\n", "#\n", "/*", "*/", "/* */", "/*!", "/*!50000", "/*!99999 x */", "/*M!", "/* /* */ */", "/**/",
	"'", "''", `"`, `""`, "`", "[", "]", "\\", `\'`, `'\'`, `'\\'`, "E'", `E'\''`, "U&'", `U&"`, "$$", "$a$", "$1", "@a", ":a", "N'x'", "x'00'", "0x1", "1", "1e", "1.",
	"(", ")", ",", ".", "::", "=", "\x00", "\ufeff", "\u00a0", "\v", "\x7f", "é", "ſ", "NOT", "NULL", "OR", "IGNORE", "OR REPLACE", "LOW_PRIORITY", "INTO", "IF", "EXISTS",
}

// edited returns the statement with a number, changed: every three bytes are one change, its kind,
// its place and its choice.
func edited(statements []string, number int, edits []byte) string {
	pieces := cut(statements[number%len(statements)])
	for ; len(edits) >= 3; edits = edits[3:] {
		at := int(edits[1]) % (len(pieces) + 1)
		choice := int(edits[2])
		switch edits[0] % 8 {
		case 0, 1:
			pieces = spliced(pieces, at, at, fragments[choice%len(fragments)])
		case 2:
			pieces = spliced(pieces, at, at+1, fragments[choice%len(fragments)])
		case 3:
			pieces = spliced(pieces, at, at+1)
		case 4:
			pieces = spliced(pieces, at, at, cut(statements[(number+choice)%len(statements)])...)
		case 5:
			other := cut(statements[(number+choice)%len(statements)])
			pieces = append(pieces[:at:at], other[min(choice%(len(other)+1), len(other)):]...)
		case 6:
			if at < len(pieces) {
				pieces = spliced(pieces, at, at, pieces[choice%len(pieces)])
			}
		case 7:
			pieces = append(append(pieces[:len(pieces):len(pieces)], ";"), cut(statements[(number+choice)%len(statements)])...)
		}
	}
	return strings.Join(pieces, "")
}

// spliced puts pieces in the place of those from begin up to end, with spaces around where there is
// something around.
func spliced(pieces []string, begin, end int, put ...string) []string {
	end = min(end, len(pieces))
	all := append([]string(nil), pieces[:begin]...)
	if len(put) > 0 {
		all = append(all, " ")
	}
	all = append(all, put...)
	if len(put) > 0 && len(put[len(put)-1]) > 2 {
		all = append(all, " ")
	}
	return append(all, pieces[end:]...)
}

// cut cuts a statement into words and what is between them.
func cut(sql string) []string {
	var pieces []string
	start := 0
	isWord := func(b byte) bool {
		return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
	}
	for i := 1; i <= len(sql); i++ {
		if i == len(sql) || isWord(sql[i]) != isWord(sql[i-1]) || !isWord(sql[i]) {
			pieces = append(pieces, sql[start:i])
			start = i
		}
	}
	return pieces
}
