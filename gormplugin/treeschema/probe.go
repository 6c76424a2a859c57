package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// probe describes a made-up row.
type probe struct {
	// top is the literal that says that the row has no parent, "" for a row with one.
	top string
	// deleted is not 0 for a deleted row; different numbers stand for different times.
	deleted int
}

// keys are the index keys of some probes: the parts, or nil if the index does not cover the row.
type keys [][]string

// holdsDeleted reports whether a deleted row blocks another row. k has the keys of a live row, and
// of two rows deleted at different times.
func (k keys) holdsDeleted() bool {
	return k[1] != nil && (slices.Equal(k[1], k[0]) || slices.Equal(k[1], k[2]))
}

// evaluate has the database compute the index keys of the probes.
func (c *checker) evaluate(ctx context.Context, i index, probes []probe) (keys, error) {
	predicate := i.predicate
	if predicate == "" {
		predicate = "1 = 1"
	}
	selected := []string{"CASE WHEN " + predicate + " THEN 1 ELSE 0 END AS inside"}
	for n, p := range i.parts {
		expression := c.quote(p.column)
		switch {
		case p.column == "":
			expression = p.expression
		case c.physical.columns[p.column].generated != "":
			expression = c.physical.columns[p.column].generated
		}
		selected = append(selected, fmt.Sprintf("(%s) AS k%d, CASE WHEN (%s) IS NULL THEN 1 ELSE 0 END AS n%d", expression, n, expression, n))
	}
	rows := make([]string, len(probes))
	for n, p := range probes {
		rows[n] = c.literals(n, p)
	}
	query := "SELECT " + strings.Join(selected, ", ") + " FROM (" + strings.Join(rows, " UNION ALL ") + ") probe ORDER BY pathlock_probe"
	records, err := ask(ctx, c.conn, c.physical.asOf(query))
	if err != nil {
		return nil, err
	}
	result := make(keys, len(records))
	for n, r := range records {
		if !r.is("inside") {
			continue
		}
		key := make([]string, 0, len(i.parts))
		for k := range i.parts {
			if r.is(fmt.Sprintf("n%d", k)) && !i.nullsEqual {
				key = nil
				break
			}
			key = append(key, r[fmt.Sprintf("k%d", k)])
		}
		result[n] = key
	}
	return result, nil
}

// literals is a SELECT of a probe's columns.
func (c *checker) literals(number int, p probe) string {
	t := c.table
	value := func(literal, name string) string {
		return c.cast(literal, c.physical.columns[name]) + " AS " + c.quote(name)
	}
	parent := c.sample(t.Parent)
	if p.top != "" {
		parent = p.top
	}
	columns := []string{
		fmt.Sprintf("%d AS pathlock_probe", number), value(parent, t.Parent), value("'a'", t.Name.Column),
	}
	if t.Tree != "" {
		columns = append(columns, value(c.sample(t.Tree), t.Tree))
	}
	for _, path := range t.Paths {
		// No index that is evaluated depends on a path of ids.
		columns = append(columns, value("'/a'", path.Column))
	}
	for _, mark := range t.Marks {
		literal := mark.Live
		if p.deleted > 0 {
			literal = c.dead(mark, p.deleted)
		}
		columns = append(columns, value(literal, mark.Column))
	}
	return "SELECT " + strings.Join(columns, ", ")
}

// zeros are the literals that mean no parent in a column, besides NULL.
func zeros(d dialect, c column) []string {
	nilUUID := "'" + treerow.NilUUID + "'"
	switch treerow.KindOf(c.typ) {
	case treerow.Number:
		return []string{"0"}
	case treerow.Text:
		return []string{"''", nilUUID}
	case treerow.UUID:
		return []string{nilUUID}
	case treerow.Bytes:
		if d.name() == "postgres" {
			return []string{`'\x'`, `'\x` + strings.Repeat("00", 16) + "'"}
		}
		return []string{"x''", "x'" + strings.Repeat("00", 16) + "'"}
	default:
		return nil
	}
}

// sample is a literal that a key column of any kind can hold.
func (c *checker) sample(name string) string {
	if strings.Contains(strings.ToLower(c.physical.columns[name].typ), "uuid") {
		return "'00000000-0000-0000-0000-000000000001'"
	}
	return "'1'"
}

// dead is a literal for a deletion mark of a deleted row.
func (c *checker) dead(mark Mark, number int) string {
	typ := strings.ToLower(c.physical.columns[mark.Column].typ)
	switch {
	case strings.Contains(typ, "time"), strings.Contains(typ, "date"):
		return fmt.Sprintf("'200%d-01-01 00:00:00'", number)
	case mark.Flag, strings.Contains(typ, "bool"):
		return "1"
	default:
		return strconv.Itoa(number)
	}
}
