package adopt

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// inPair takes the trees' ids from a column that is made of two, and adds it if there is none.
func (s shape) inPair(first, second string) shape {
	cells := make([]cell, s.of.rows)
	for i := range cells {
		cells[i] = cell{String: s.of.cells[first][i].String + ":" + s.of.cells[second][i].String, Valid: true}
	}
	length := int64(1)
	for _, name := range []string{first, second} {
		length += cmp.Or(s.of.columns[name].Length, pairLength)
	}
	s.pair = []string{first, second}
	if made, whole := s.of.madeOf(cells); made == "" {
		s.Tree = s.add(first+"_"+second, nil, textType(s.of.dialect, length), cells)
	} else if s.Tree = made; !whole {
		s.filled = append(slices.Clone(s.filled), made)
	}
	return s
}

// madeOf returns the column whose rows have these texts, or still nothing in some: it is not whole
// then.
func (t *table) madeOf(texts []cell) (column string, whole bool) {
	for _, name := range t.order {
		same, lacking := 0, 0
		for i, c := range t.cells[name] {
			if c == texts[i] {
				same++
			} else if !c.Valid {
				lacking++
			}
		}
		if same > 0 && same+lacking == t.rows {
			return name, lacking == 0
		}
	}
	return "", false
}

// pairSQL is the value of a column that is made of two.
func (s *shape) pairSQL(d *dialect.Dialect) string {
	return concat(d, d.QuotePart(s.pair[0]), "':'", d.QuotePart(s.pair[1]))
}

// isPairSQL is the condition that a column has the value that is made of two, whose collations may
// be others.
func (s *shape) isPairSQL(d *dialect.Dialect) string {
	condition := d.QuotePart(s.Tree) + " = " + s.pairSQL(d)
	if d == dialect.MySQL {
		condition += " COLLATE utf8mb4_bin"
	}
	return condition
}

// constraints are the questions for a constraint of a table by its name. SQLite adds none.
var constraints = map[*dialect.Dialect]string{
	dialect.MySQL:      "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND CONSTRAINT_NAME = ?",
	dialect.PostgreSQL: "SELECT COUNT(*) FROM pg_constraint WHERE conrelid = to_regclass(?) AND conname = ?",
}

// keepPair returns the statement for the constraint that keeps a column made of two, if the table
// lacks it.
func (r *reader) keepPair(ctx context.Context, s *shape) (statements []Statement, err error) {
	query := constraints[r.dialect]
	if s.pair == nil || query == "" {
		return nil, nil
	}
	table, name, there := s.Table.Table, s.Tree+"_is_pair", 0
	if r.dialect == dialect.PostgreSQL {
		table = r.dialect.Quote(table)
	} else { // where a name is the database's
		name = table + "_" + name
	}
	if err := r.db.QueryRowContext(ctx, r.dialect.Bind(query), table, name).Scan(&there); err != nil || there > 0 {
		return nil, err
	}
	alter := "ALTER TABLE " + r.dialect.Quote(s.Table.Table)
	return []Statement{{
		SQL:  fmt.Sprintf("%s ADD CONSTRAINT %s CHECK (%s)", alter, r.dialect.QuotePart(name), s.isPairSQL(r.dialect)),
		Why:  "pathlock only reads " + s.Tree + ": this refuses what is not made of both",
		Undo: alter + " DROP CONSTRAINT " + r.dialect.QuotePart(name),
	}}, nil
}
