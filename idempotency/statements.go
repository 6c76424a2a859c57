package idempotency

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
)

// DefaultTable is the table of keys unless [Config.Table] names another one.
const DefaultTable = "pathlock_idempotency"

//go:embed sql
var files embed.FS

// clocks are the databases' expressions for the time, in milliseconds since 1970. They do not
// depend on a time zone.
var clocks = map[string]string{
	"mysql":    "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
	"postgres": "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
	"sqlite":   "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
}

// tableName is what [Config.Table] can be: it needs no quotes in any dialect.
var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,50}(\.[a-z_][a-z0-9_]{0,50})?$`)

// statements are the SQL for one database and table.
type statements struct {
	create, check, read, insert, seize, takeover, mark, record, finish, settle, release, purge string
}

// newStatements reads the files of a dialect.
func newStatements(dialect, table string) (s statements, err error) {
	clock, known := clocks[dialect]
	if !known {
		return s, fmt.Errorf("idempotency: the dialect %q is not known; known are mysql, postgres and sqlite", dialect)
	}
	if !tableName.MatchString(table) {
		return s, fmt.Errorf("idempotency: the table's name %q has to be of lower-case letters, digits and underscores", table)
	}
	_, base, found := strings.Cut(table, ".")
	if !found {
		base = table
	}
	fill := strings.NewReplacer("${table}", table, "${index}", base+"_expiry", "${now}", clock)
	for name, to := range map[string]*string{
		dialect + "/create": &s.create, dialect + "/insert": &s.insert, dialect + "/purge": &s.purge,
		dialect + "/seize": &s.seize, "check": &s.check, "read": &s.read, "takeover": &s.takeover, "mark": &s.mark, "record": &s.record, "finish": &s.finish,
		"settle": &s.settle, "release": &s.release,
	} {
		text, err := files.ReadFile("sql/" + name + ".sql")
		if err != nil {
			return s, fmt.Errorf("idempotency: %w", err)
		}
		*to = fill.Replace(withoutComment(string(text)))
	}
	// dbresolver sends what begins with SELECT to a replica, which may not have the row yet.
	s.read = "/* of the primary */ " + s.read
	return s, nil
}

// withoutComment drops the lines of comment that a file begins with, which are for its readers.
func withoutComment(text string) string {
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(text)
}
