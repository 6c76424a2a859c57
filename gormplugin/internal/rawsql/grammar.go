package rawsql

import "strings"

// Grammar is what tells one dialect from the others.
type Grammar struct {
	// hashComments is set where # begins a comment, and where a string may be in double quotes: MySQL.
	hashComments bool
	// dashesNeedSpace is set where -- begins a comment only before a space.
	dashesNeedSpace bool
	// nestedComments is set where comments nest.
	nestedComments bool
	// brackets is set where identifiers may be in [brackets].
	brackets bool
	// dollarQuotes is set where there are $tag$ strings, E'strings' and U&"identifiers".
	dollarQuotes bool
	// stringsName is set where a string in single quotes may name a table.
	stringsName bool
	// joinedTargets is set where one statement writes to several tables of a join.
	joinedTargets bool
	// backslashes is set where settings of the server decide what a backslash in a string is.
	backslashes bool
}

// The dialects.
var (
	MySQL      = Grammar{hashComments: true, dashesNeedSpace: true, joinedTargets: true, backslashes: true}
	PostgreSQL = Grammar{nestedComments: true, dollarQuotes: true, backslashes: true}
	SQLite     = Grammar{brackets: true, stringsName: true}
)

// readings returns the ways in which sql can be read.
func (g *Grammar) readings(sql string) []reading {
	all := []reading{{}}
	if g.backslashes && (strings.Contains(sql, `\'`) || strings.Contains(sql, `\"`) || strings.Contains(sql, `\\`)) {
		all = append(all, reading{backslashes: true})
	}
	if g.hashComments && (strings.Contains(sql, "/*!") || strings.Contains(sql, "/*M!")) {
		for _, r := range all {
			r.versions = true
			all = append(all, r)
		}
	}
	return all
}
