package treeschema

import (
	"context"
	"fmt"
	"strconv"
)

// Long is a column in which some rows have more characters than the model allows.
type Long struct {
	Table, Column string
	// Size is what the model allows, Longest what there is.
	Size, Longest int
}

// String says where the texts are.
func (l Long) String() string {
	return fmt.Sprintf("%s.%s: up to %d characters, the model says %d", l.Table, l.Column, l.Longest, l.Size)
}

// TooLong returns the columns of names, paths and ids in which rows have more characters than the
// models allow. A table that is not there yet, or lacks a column, has none.
func TooLong(ctx context.Context, conn Conn, dialectName string, tables []Table) ([]Long, error) {
	d, err := dialectOf(dialectName)
	if err != nil {
		return nil, err
	}
	var all []Long
	for _, t := range tables {
		p, err := d.read(ctx, conn, t.Table)
		if err != nil {
			return nil, err
		}
		for _, text := range append(t.texts(), t.Keys...) {
			c, there := p.columns[text.Column]
			// The catalogue tells most of the time that nothing can be too long. SQLite goes by no
			// size.
			if !there || text.Size == 0 || c.length > 0 && c.length <= text.Size || d.name() == "sqlite" || c.collation == "" {
				continue
			}
			records, err := ask(ctx, conn, fmt.Sprintf("SELECT COALESCE(MAX(CHAR_LENGTH(%s)), 0) AS longest FROM %s", d.quote(text.Column), d.quote(t.Table)))
			if err != nil {
				return nil, fmt.Errorf("treeschema: measuring %s.%s: %w", t.Table, text.Column, err)
			}
			if longest, _ := strconv.Atoi(records[0]["longest"]); longest > text.Size {
				all = append(all, Long{Table: t.Table, Column: text.Column, Size: text.Size, Longest: longest})
			}
		}
	}
	return all, nil
}
