package treeschema

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// place says where a row is in the tree: its values by column, as the driver returns them.
type place map[string]string

// sentence is a statement with its arguments.
type sentence struct {
	dialect
	table Table
	*physical
	text strings.Builder
	args []any
}

// sentence begins a statement.
func (t *trial) sentence() *sentence {
	return &sentence{dialect: t.dialect, table: t.table, physical: t.physical}
}

// add appends to a statement.
func (s *sentence) add(format string, args ...any) { fmt.Fprintf(&s.text, format, args...) }

// value returns the SQL for a value of a column's type.
func (s *sentence) value(c column, value string) string {
	kind := treerow.KindOf(c.typ)
	if kind == treerow.Number && value == "" {
		return "NULL"
	}
	if _, err := strconv.ParseInt(value, 10, 64); kind == treerow.Number && err == nil {
		return value
	}
	var arg any = value
	if kind == treerow.Bytes {
		arg = []byte(value)
	}
	s.args = append(s.args, arg)
	switch {
	case s.name() != "postgres":
		return "?"
	case kind == treerow.Text || c.collation != "":
		// A cast to the type itself would truncate a long value.
		return fmt.Sprintf("CAST($%d AS text)", len(s.args))
	default:
		return fmt.Sprintf("CAST($%d AS %s)", len(s.args), c.typ)
	}
}

// is returns the condition that a row has the key of a place.
func (s *sentence) is(row place) string {
	var all []string
	for _, name := range s.table.Key {
		all = append(all, s.quote(name)+" = "+s.value(s.columns[name], row[name]))
	}
	return strings.Join(all, " AND ")
}

// placing are the columns that a row's place in the tree depends on.
func (t Table) placing() []string {
	all := slices.Concat(t.Key, t.shaping(), t.markColumns())
	slices.Sort(all)
	return slices.Compact(all)
}

// look returns the places of the rows that meet a condition.
func (t *trial) look(ctx context.Context, condition string, args ...any) ([]place, error) {
	names := t.table.placing()
	selected := make([]string, len(names))
	for i, name := range names {
		selected[i] = fmt.Sprintf("%s AS p%d", t.quote(name), i)
	}
	records, err := ask(ctx, t.tx, t.physical.asOf("SELECT "+strings.Join(selected, ", ")+" FROM "+t.quote(t.table.Table)+condition), args...)
	if err != nil {
		return nil, err
	}
	places := make([]place, len(records))
	for n, r := range records {
		places[n] = make(place, len(names))
		for i, name := range names {
			places[n][name] = r[fmt.Sprintf("p%d", i)]
		}
	}
	return places, nil
}

// compare checks that the trial's rows hold what it has written.
func (t *trial) compare(ctx context.Context) error {
	for _, row := range t.rows {
		if t.harm != "" {
			return nil
		}
		s := t.sentence()
		found, err := t.look(ctx, " WHERE "+s.is(row), s.args...)
		if err != nil {
			return err
		}
		if len(found) != 1 {
			t.harm = "after " + t.doing + ", a row that was written is not there"
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(row)) {
			got, want := found[0][name], row[name]
			if t.physical.columns[name].equal != exactly {
				got = strings.TrimRight(got, " ") // a CHAR is padded
			}
			if got != want {
				t.harm = fmt.Sprintf("after %s, its %s is %q, where %q was written", t.doing, name, got, want)
				return nil
			}
		}
	}
	return nil
}

// fingerprints returns a number for each table. It changes if a row that is not the trial's changes
// its place, comes or goes.
func (t *trial) fingerprints(ctx context.Context) (map[string]uint64, error) {
	own, err := t.fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]uint64{t.table.Table: own}
	for _, other := range t.tables {
		if other.Table == t.table.Table {
			continue
		}
		p := t.others[other.Table]
		if p == nil {
			if p, err = t.read(ctx, t.tx, other.Table); err != nil {
				return nil, err
			}
			t.others[other.Table] = p
		}
		if all[other.Table], err = t.digest(ctx, other, p, ""); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fingerprint returns the number of the trial's own table. Of a large table it covers the siblings
// of the trial's rows alone.
func (t *trial) fingerprint(ctx context.Context) (uint64, error) {
	condition := ""
	s := t.sentence()
	if t.partly {
		beside := t.above[t.table.Parent]
		if len(t.table.Paths) > 0 {
			beside = t.above[t.table.Key[0]]
		}
		condition = fmt.Sprintf(" WHERE (%s OR %s = %s)", s.is(t.above), t.quote(t.table.Parent), s.value(t.physical.columns[t.table.Parent], beside))
	}
	for _, row := range t.rows {
		word := " AND NOT ("
		if condition == "" {
			word = " WHERE NOT ("
		}
		condition += word + s.is(row) + ")"
	}
	return t.digest(ctx, t.table, t.physical, condition, s.args...)
}

// digest returns a hash of the places of the rows that meet a condition.
func (t *trial) digest(ctx context.Context, of Table, p *physical, condition string, args ...any) (uint64, error) {
	names := of.placing()
	query := fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d", quoted(t, names), t.quote(of.Table), condition, quoted(t, of.Key), maxCompared)
	rows, err := t.tx.QueryContext(ctx, p.asOf(query), args...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	hash := fnv.New64a()
	values, targets := make([]*string, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return 0, err
		}
		for _, v := range values {
			if v == nil {
				_, _ = hash.Write([]byte("n"))
				continue
			}
			_, _ = fmt.Fprintf(hash, "%d:%s", len(*v), *v)
		}
	}
	return hash.Sum64(), rows.Err()
}

// newPlace makes up a place below parent, or at the top of a new tree if that is nil. A leaf gets
// the parent of the other leaf.
func (t *trial) newPlace(ctx context.Context, parent place) (place, error) {
	c, row := t.physical.columns, make(place)
	maps.Copy(row, parent)
	name := newName(c[t.table.Name.Column])
	for _, column := range t.table.Key {
		if column == t.table.Tree && parent != nil {
			continue
		}
		key, err := t.fresh(ctx, c[column])
		if err != nil {
			return nil, err
		}
		row[column] = key
	}
	switch {
	case parent != nil && len(t.table.Paths) > 0:
		row[t.table.Parent] = parent[t.table.Key[0]]
	case parent == nil:
		row[t.table.Parent] = t.nothing(c[t.table.Parent])
		if t.table.Tree != "" && !slices.Contains(t.table.Key, t.table.Tree) {
			row[t.table.Tree] = strings.Trim(t.checker.sample(t.table.Tree), "'")
		}
	}
	for _, mark := range t.table.Marks {
		delete(row, mark.Column)
	}
	row[t.table.Name.Column] = name
	for _, path := range t.table.Paths {
		row[path.Column] = parent[path.Column] + "/" + name
		if path.OfIDs {
			row[path.Column] = parent[path.Column] + "/" + row[t.table.Key[0]]
		}
	}
	return row, nil
}

// nothing is the value that means no parent in a column.
func (t *trial) nothing(c column) string {
	if !c.nullable && treerow.KindOf(c.typ) == treerow.Number {
		return "0"
	}
	return ""
}

// newName makes up a name with everything that a trigger may normalise: upper case and two spaces.
func newName(c column) string {
	name := "Pathlock  Probe " + hex.EncodeToString(random(4))
	if c.length > 0 && c.length < len(name) {
		return name[len(name)-c.length:]
	}
	return name
}

// random returns random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}

// fresh makes up a value that no row has.
func (t *trial) fresh(ctx context.Context, c column) (string, error) {
	b := random(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	uuid := fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	switch treerow.KindOf(c.typ) {
	case treerow.Number:
		records, err := ask(ctx, t.tx, t.physical.asOf(fmt.Sprintf("SELECT MAX(%s) AS most FROM %s", t.quote(c.name), t.quote(t.table.Table))))
		if err != nil {
			return "", err
		}
		most, _ := strconv.ParseInt(records[0]["most"], 10, 64)
		next := int64(1)
		if t.name() == "postgres" {
			next = 1000 // other sessions draw from the sequence meanwhile
		}
		return strconv.FormatInt(max(most, 0)+next, 10), nil
	case treerow.UUID:
		return uuid, nil
	case treerow.Bytes:
		if strings.HasPrefix(c.typ, "binary(") {
			return string(random(c.length)), nil
		}
		return string(b), nil
	case treerow.Text:
		if c.length > 0 && c.length < len(uuid) {
			return strings.ReplaceAll(uuid, "-", "")[:min(c.length, 32)], nil
		}
		return uuid, nil
	default:
		return "", errors.New("no unique value can be made up for the column " + c.name + ": its type is " + c.typ)
	}
}

// insertion writes the INSERT of a row. The columns that do not place the row are copied from the
// row above, so that constraints hold. A unique column is left out, or made up if it cannot be
// NULL.
func (t *trial) insertion(ctx context.Context, s *sentence, row place) error {
	var names, values []string
	marks := t.table.markColumns()
	for _, name := range slices.Sorted(maps.Keys(t.physical.columns)) {
		c := t.physical.columns[name]
		value, placed := row[name]
		switch {
		case c.generated != "":
			continue
		case placed && value == "" && c.nullable && name == t.table.Parent:
			values = append(values, "NULL")
		case placed:
			values = append(values, s.value(c, value))
		case slices.Contains(marks, name):
			values = append(values, t.table.Marks[slices.Index(marks, name)].Live)
		case t.above == nil || t.isUnique(name) && c.nullable:
			continue
		case t.isUnique(name):
			value, err := t.fresh(ctx, c)
			if err != nil {
				return err
			}
			values = append(values, s.value(c, value))
		default:
			values = append(values, t.quote(name))
		}
		names = append(names, name)
	}
	s.add("INSERT INTO %s (%s)", t.quote(t.table.Table), quoted(t, names))
	if t.name() == "postgres" {
		s.add(" OVERRIDING SYSTEM VALUE")
	}
	if t.above == nil {
		s.add(" VALUES (%s)", strings.Join(values, ", "))
		return nil
	}
	s.add(" SELECT %s FROM %s WHERE %s", strings.Join(values, ", "), t.quote(t.table.Table), s.is(t.above))
	return nil
}

// isUnique reports whether a column is part of a unique index.
func (t *trial) isUnique(name string) bool {
	return slices.ContainsFunc(t.physical.indexes, func(i index) bool { return i.unique && slices.Contains(i.columns(), name) })
}
