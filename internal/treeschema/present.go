package treeschema

import (
	"context"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Present says how much of a table exists.
type Present struct {
	// Exists is set if the name stands for anything, IsTable if it stands for a table.
	Exists, IsTable bool
	// Hides is set where the session sees other rows or values than the table has.
	Hides bool
	// Columns are in the order of their names.
	Columns []Column
	// Indexes are names.
	Indexes []string
	// Unique are the columns with a unique index of their own.
	Unique []string
}

// Look returns what exists of the table that statements find by its name.
func Look(ctx context.Context, conn Conn, d *dialect.Dialect, table string) (there Present, err error) {
	err = eachTable(ctx, conn, d, []Table{{Table: table}}, func(c *checker) error {
		there = Present{Exists: c.exists, IsTable: c.exists && c.Kind == "", Hides: bool(c.Hides)}
		for _, name := range slices.Sorted(maps.Keys(c.columns)) {
			there.Columns = append(there.Columns, c.columns[name])
		}
		for _, i := range c.indexes {
			there.Indexes = append(there.Indexes, i[0].Index)
			if bool(i[0].Unique) && len(i) == 1 && i[0].Condition == "" && i[0].Prefix == 0 {
				there.Unique = append(there.Unique, i[0].Column)
			}
		}
		return nil
	})
	return there, err
}
