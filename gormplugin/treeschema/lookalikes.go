package treeschema

import (
	"context"
	"fmt"
	"slices"
)

// indexed adds the statements that make a unique index over names, or advice where it cannot be
// made. either is a name of siblings that such an index would hold equal, "" if there are none.
func (c *checker) indexed(f Finding, make func(Table, *physical) []string, either string) Finding {
	if either != "" {
		f.Advice = fmt.Sprintf("give the column %s a collation by which different names are different, or rename siblings that it holds equal, such as those called %q; then call Verify again",
			c.table.Name.Column, either)
		return f
	}
	f.Statements, f.automatic = make(c.table, c.physical), true
	if f.Statements == nil {
		f.Advice = c.onePiece()
	}
	return f
}

// lookalike returns a name that, by the collation of the column, several live siblings have, whose
// names are different ones for the plugin; "" if there is none. There are such names only where the
// column keeps its collation.
func (c *checker) lookalike(ctx context.Context) (string, error) {
	col := c.physical.columns[c.table.Name.Column]
	if col.equal >= ordered || slices.Contains(c.mended, col.name) || c.name() == "sqlite" {
		return "", nil // SQLite's indexes have collations of their own
	}
	query := duplicatesQuery(c, c.table, c.physical, c.quote(col.name), 1)
	records, err := ask(ctx, c.conn, c.physical.asOf(query))
	if err != nil || len(records) == 0 {
		return "", err
	}
	return records[0]["name"], nil
}
