package treeschema

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// Drivers of PostgreSQL prepare a statement once for a connection, and know it by its text from
// then on. The server refuses one whose columns have got other types since, and then all else in
// the transaction, too. So a statement that returns values of a table's columns says which types it
// is for: with other ones it is another statement.

// asOf adds the digest of the columns' types to a statement that returns their values.
func (p *physical) asOf(query string) string {
	if p.types == "" {
		return query
	}
	return query + " /* " + p.types + " */"
}

// digestOf is a number that is another one when some values of a record are, in whatever order the
// records come.
func digestOf(records []record, names ...string) string {
	lines := make([]string, len(records))
	for i, r := range records {
		values := make([]string, len(names))
		for k, name := range names {
			values[k] = fmt.Sprintf("%q", r[name])
		}
		lines[i] = strings.Join(values, " ")
	}
	slices.Sort(lines)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("%016x", hash.Sum64())
}
