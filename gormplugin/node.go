package gormplugin

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// node is a row of a guarded table, or one that is about to be.
type node struct {
	// id, parent and tree are column values in plain form, see [plain]: they can be compared and
	// used as map keys. parent is nil at the top, which is NULL or a zero value in the column.
	id, parent, tree any
	name             string
	// path is the path column; for a leaf it is made up from its parent's.
	path string
	// ids is the path of ids beside a path of names.
	ids     string
	version int64
	fence   any
	// hit is set where a survey's statement means the row, and childless where the survey has found
	// no live row below such a row.
	hit, childless bool
}

// bytes is a byte string that can be compared: a binary key, which a database would not find as a
// text.
type bytes string

// Value implements [driver.Valuer].
func (b bytes) Value() (driver.Value, error) { return []byte(b), nil }

// plain reduces a column's value to what can be compared: pointers are followed, Valuers asked,
// numbers widened. NULL is nil. What only the database can work out has no plain form.
func plain(value any) (any, error) {
	for range 8 {
		v := reflect.ValueOf(value)
		switch value.(type) {
		case nil, bytes:
			return value, nil
		case clause.Expression, gorm.Valuer, *gorm.DB:
			return nil, fmt.Errorf("%w: a key or a name cannot be an expression (%T)", fault.ErrUnsupported, value)
		}
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, nil
		}
		if valuer, ok := value.(driver.Valuer); ok {
			next, err := valuer.Value()
			if err != nil {
				return nil, fmt.Errorf("gormplugin: reading a %T: %w", value, err)
			}
			value = next
			continue
		}
		switch v.Kind() {
		case reflect.Pointer:
			value = v.Elem().Interface()
			continue
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return v.Int(), nil
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			if u := v.Uint(); u > 1<<63-1 {
				return u, nil
			}
			return int64(v.Uint()), nil
		case reflect.String:
			return v.String(), nil
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				return bytes(v.Bytes()), nil
			}
		}
		if v.Comparable() {
			return value, nil
		}
		break
	}
	return nil, fmt.Errorf("%w: a key or a name cannot be a %T", fault.ErrUnsupported, value)
}

// own starts a query for live rows of t, to be a part of a query of the caller's.
func (t *table) own(db *gorm.DB) *gorm.DB {
	tx := db.Session(&gorm.Session{NewDB: true, SkipHooks: true}).Model(t.fresh())
	tx.Statement.Unscoped = false
	return tx
}

// column names a column of the table that the statement is on.
func column(f *schema.Field) clause.Column {
	return clause.Column{Table: clause.CurrentTable, Name: f.DBName}
}

// in is the condition that a column has one of the values.
func in(f *schema.Field, values []any) clause.Expression {
	return clause.IN{Column: column(f), Values: values}
}

// keyIn is the condition that a column of keys has one of the values. Where a long list would be
// misjudged, the values are rows to be joined with, if their type can be told.
func (t *table) keyIn(column clause.Column, ids []any) clause.Expression {
	const few = 16
	isOther := func(id any) bool { _, ok := id.(int64); return !ok }
	kind := t.key.DataType
	if !t.dialect.MisjudgesLists || len(ids) <= few || kind != schema.Int && kind != schema.Uint || slices.ContainsFunc(ids, isOther) {
		return clause.IN{Column: column, Values: ids}
	}
	return clause.Expr{
		SQL:  "? IN (VALUES (CAST(? AS BIGINT))" + strings.Repeat(", (?)", len(ids)-1) + ")",
		Vars: append([]any{column}, ids...),
	}
}

// scan reads one row through the model's fields, which know their serializers and types. A row that
// was locked says at which isolation level, and one that was surveyed whether the statement hits it
// and whether rows hang below it.
func (t *table) scan(ctx context.Context, rows *sql.Rows, locked, surveyed bool) (*node, error) {
	values := make([]any, len(t.columns), len(t.columns)+2)
	for i, f := range t.columns {
		values[i] = f.NewValuePool.Get()
		defer f.NewValuePool.Put(values[i])
	}
	var isolation string
	if locked && t.dialect.Isolation != "" {
		values = append(values, &isolation)
	}
	var hit, children bool
	if surveyed {
		values = append(values, &hit, &children)
	}
	if err := rows.Scan(values...); err != nil {
		return nil, fmt.Errorf("gormplugin: reading %s: %w", t.name, err)
	}
	if isolation != "" {
		if why := t.dialect.Refuse(isolation); why != "" {
			return nil, fmt.Errorf("%w: a write to %s at %s", fault.ErrIsolation, t.name, why)
		}
	}
	row := reflect.New(t.schema.ModelType).Elem()
	for i, f := range t.columns {
		if err := f.Set(ctx, row, values[i]); err != nil {
			return nil, fmt.Errorf("gormplugin: reading %s.%s: %w", t.name, f.DBName, err)
		}
	}
	n, err := t.nodeOf(ctx, row)
	if err == nil {
		n.hit, n.childless = hit, hit && !children
	}
	return n, err
}

// nodeOf returns what a struct of the model holds.
func (t *table) nodeOf(ctx context.Context, row reflect.Value) (*node, error) {
	n := new(node)
	var err error
	get := func(f *schema.Field) any {
		if f == nil || err != nil {
			return nil
		}
		var value any
		value, _ = f.ValueOf(ctx, row)
		value, err = plain(value)
		return value
	}
	n.id, n.tree = get(t.key), get(t.tree)
	n.parent = t.parentOrNil(get(t.parent))
	n.name, _ = textOf(get(t.label))
	n.path, _ = textOf(get(t.path))
	n.ids, _ = textOf(get(t.ids))
	n.version, _ = get(t.version).(int64)
	n.fence = get(t.fence)
	return n, err
}

// byID returns the live rows with the given ids. Where it locks them, it locks nothing but them: an
// equality on the primary key takes no gap lock, which a look-up by path would, and which inserts
// elsewhere in the tree would have to wait for.
func (t *table) byID(db *gorm.DB, ids []any, lock dialect.RowLock) (map[any]*node, error) {
	found := make(map[any]*node, len(ids))
	for chunk := range slices.Chunk(ids, maxPlaceholders) {
		nodes, err := t.read(db, selection{where: t.keyIn(column(t.key), chunk), lock: lock, byPrimaryKey: true})
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			found[n.id] = n
		}
	}
	return found, nil
}

// climb returns, by plain reads, the live rows with the given ids and all live rows above them: by
// primary keys where it is known which rows these may be, and else by one recursive read.
func (t *table) climb(db *gorm.DB, ids []any) (map[any]*node, error) {
	if found, err := t.climbAgain(db, ids); err != nil || found != nil {
		return found, err
	}
	found := make(map[any]*node, len(ids))
	for chunk := range slices.Chunk(ids, maxPlaceholders) {
		nodes, err := t.read(db, selection{where: t.lineage(chunk)})
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			found[n.id] = n
		}
	}
	t.ancestry.learn(found)
	return found, nil
}

// lineage is the condition that a row has one of the ids, a list in parentheses, or lies above a
// row that has.
func (t *table) lineage(ids any) clause.Expression {
	name := clause.Table{Name: t.name}
	key, parent := clause.Column{Name: t.key.DBName}, clause.Column{Name: t.parent.DBName}
	// UNION, unlike UNION ALL, comes to an end where rows are each other's parents.
	return clause.Expr{
		SQL:  "? IN (WITH RECURSIVE up (id, above) AS (SELECT ?, ? FROM ? WHERE ? IN ? UNION SELECT s.?, s.? FROM ? s JOIN up ON s.? = up.above) SELECT id FROM up)",
		Vars: []any{column(t.key), key, parent, name, key, ids, key, parent, name, key},
	}
}

// rows returns the rows with the given ids: by climbing, where no lock is asked for.
func (t *table) rows(db *gorm.DB, ids []any, lock dialect.RowLock) (map[any]*node, error) {
	if len(ids) == 0 {
		return make(map[any]*node), nil
	}
	if lock != "" {
		return t.byID(db, ids, lock)
	}
	if known := t.chainsIn(t.recalled(db), ids); known != nil {
		return known, nil
	}
	return t.climb(db, ids)
}

// maxPlaceholders is how many values one statement lists at most: SQLite's
// oldest limit is 999.
const maxPlaceholders = 500
