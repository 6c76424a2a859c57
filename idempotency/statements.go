package idempotency

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// defaultTable is that of [Config.Table].
const defaultTable = "pathlock_idempotency"

//go:embed sql
var files embed.FS

// tableName is what [Config.Table] can be: it needs no quotes in any dialect.
var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,50}(\.[a-z_][a-z0-9_]{0,50})?$`)

// statements are the SQL for one database and table.
type statements struct {
	create, check, read, insert, seize, takeover, mark, record, finish, settle, release, purge string
}

// newStatements reads the files of a database.
func newStatements(d *dialect.Dialect, table string) (s statements, err error) {
	if !tableName.MatchString(table) {
		return s, fmt.Errorf("idempotency: the table's name %q has to be of lower-case letters, digits and underscores", table)
	}
	_, base, found := strings.Cut(table, ".")
	if !found {
		base = table
	}
	own := string(d.Name)
	fill := strings.NewReplacer("${table}", table, "${index}", base+"_expiry", "${now}", d.Millis)
	for name, to := range map[string]*string{
		own + "/create": &s.create, own + "/insert": &s.insert, own + "/purge": &s.purge,
		own + "/seize": &s.seize, "check": &s.check, "read": &s.read, "takeover": &s.takeover, "mark": &s.mark, "record": &s.record, "finish": &s.finish,
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
