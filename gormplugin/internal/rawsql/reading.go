package rawsql

import "strings"

// reading is one way to read SQL of which there are several.
type reading struct {
	// backslashes is set where a backslash in a string takes the next byte along.
	backslashes bool
	// quotedNames is set where what is in double quotes is a name, in which a backslash is a
	// character like any other.
	quotedNames bool
	// executed are the beginnings of comments that are executed: "/*!50000".
	executed map[string]bool
}

// maxVersions bounds how many different beginnings of executable comments are told apart.
const maxVersions = 4

// readings returns the ways in which sql can be read; where [Grammar.isAmbiguous], only some of
// them.
func (g *Grammar) readings(sql string) []reading {
	all := []reading{{}}
	if g.backslashes && strings.IndexByte(sql, '\\') >= 0 {
		all = append(all, reading{backslashes: true})
		if g.doubleQuotedStrings && strings.IndexByte(sql, '"') >= 0 {
			all = append(all, reading{backslashes: true, quotedNames: true})
		}
	}
	if !g.versionComments {
		return all
	}
	marks := versionMarks(sql)
	plain := all
	for chosen := 1; chosen < 1<<min(len(marks), maxVersions); chosen++ {
		executed := make(map[string]bool)
		for i, mark := range marks {
			// The last of them go with the last one that is told apart.
			executed[mark] = chosen&(1<<min(i, maxVersions-1)) != 0
		}
		for _, r := range plain {
			r.executed = executed
			all = append(all, r)
		}
	}
	return all
}

// isAmbiguous reports whether sql can be read in more ways than are tried.
func (g *Grammar) isAmbiguous(sql string) bool {
	return g.versionComments && len(versionMarks(sql)) > maxVersions
}

// versionMarks returns the different beginnings of comments that some version of MySQL or MariaDB
// executes.
func versionMarks(sql string) []string {
	var marks []string
	seen := make(map[string]bool)
	for at := strings.Index(sql, "/*"); at >= 0; {
		if mark := versionMark(sql[at:]); mark != "" && !seen[mark] {
			seen[mark] = true
			marks = append(marks, mark)
		}
		at++
		next := strings.Index(sql[at:], "/*")
		if next < 0 {
			break
		}
		at += next
	}
	return marks
}

// versionMark returns the beginning of a comment that may be executed, with its version; "" for any
// other.
func versionMark(sql string) string {
	var n int
	switch {
	case strings.HasPrefix(sql, "/*!"):
		n = len("/*!")
	case strings.HasPrefix(sql, "/*M!"):
		n = len("/*M!")
	default:
		return ""
	}
	// A version has five digits or six.
	for digits := 0; digits < 6 && n < len(sql) && isDigit(sql[n]); digits++ {
		n++
	}
	return sql[:n]
}
