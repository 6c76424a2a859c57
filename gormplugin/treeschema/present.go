package treeschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Present says how much of a table exists.
type Present struct {
	// Exists is set if the name stands for anything, IsTable if it stands for a table.
	Exists, IsTable bool
	// Columns and Indexes are names.
	Columns, Indexes []string
	// Unique are the columns with a unique index of their own.
	Unique []string
}

// Look returns what exists of the table that statements find by its name.
func Look(ctx context.Context, conn Conn, dialectName, table string) (Present, error) {
	d, err := dialectOf(dialectName)
	if err != nil {
		return Present{}, err
	}
	p, err := d.read(ctx, conn, table)
	if err != nil {
		return Present{}, fmt.Errorf("treeschema: reading the catalogue on %s: %w", table, err)
	}
	there := Present{Exists: p.exists, IsTable: p.exists && p.shape.kind == "", Columns: slices.Sorted(maps.Keys(p.columns))}
	for _, i := range p.indexes {
		there.Indexes = append(there.Indexes, i.name)
		if i.unique && len(i.parts) == 1 && i.predicate == "" && i.parts[0].prefix == 0 {
			there.Unique = append(there.Unique, i.parts[0].column)
		}
	}
	return there, nil
}
