package treeschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Present is what there is of a table.
type Present struct {
	// Exists is set where the name stands for anything, and IsTable where that is a table.
	Exists, IsTable bool
	// Columns and Indexes are their names.
	Columns, Indexes []string
	// Unique are the columns that are unique by themselves.
	Unique []string
}

// Look says what there is of a table that statements find by its name.
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
