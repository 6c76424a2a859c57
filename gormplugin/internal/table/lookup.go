package table

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Lookup finds live rows by what a column holds: the key, another one, or the path.
type Lookup struct {
	*Table
	column *schema.Field
	// inTree is set if the column tells rows apart within one tree only.
	inTree bool
}

// LookupBy returns how rows are found by a column, which is named by its field or its own name; by
// the key if no column is named. It refuses columns by which nobody could find a row.
func (t *Table) LookupBy(column string, inTree bool) (Lookup, error) {
	l := Lookup{t, t.Key, false}
	if column != "" {
		l = Lookup{t, t.Schema.LookUpField(column), inTree}
	}
	refuse := func(why string) (Lookup, error) {
		return l, fmt.Errorf("gormplugin: %s: rows cannot be found by %q: %s", t.Schema.Name, cmp.Or(column, t.Key.Name), why)
	}
	switch {
	case l.column == nil || l.column.DBName == "":
		return refuse("the model has no such column")
	case checkTextForm(l.column) != nil:
		return refuse(checkTextForm(l.column).Error())
	case column == "":
	case inTree && t.Tree == nil:
		return refuse("the model has no tree column: leave out the tree")
	case slices.Contains(append(slices.Clone(t.Deletion), t.Parent, t.Tree, t.Version, t.Fence), l.column):
		return refuse("several rows may have the same value in it")
	case !l.isPath():
	case t.IsLeaf:
		return refuse("the path of a leaf says nothing of its tree")
	case t.ByIDs:
		return refuse("a path of ids ends in the row's own id, by which Resolver finds it")
	case !inTree && t.Tree != nil:
		return refuse("each tree has its own paths: say in which one to look")
	}
	return l, nil
}

// isPath reports whether the column has the rows' places.
func (l Lookup) isPath() bool { return l.column == l.Path }

// Unique returns the columns that a unique index has to keep apart; none for a path, which follows
// from the names of siblings.
func (l Lookup) Unique() []string {
	switch {
	case l.isPath():
		return nil
	case l.inTree:
		return []string{l.Tree.DBName, l.column.DBName}
	default:
		return []string{l.column.DBName}
	}
}

// Resolve returns where the live rows with the texts are; in the given tree, if the column tells
// rows apart within one only.
func (l Lookup) Resolve(db *gorm.DB, tree any, texts []string) []pathlock.Resolution {
	results := make([]pathlock.Resolution, len(texts))
	tree, err := l.treeColumn(db.Statement.Context, tree)
	if err != nil {
		return slices.Repeat([]pathlock.Resolution{{Err: err}}, len(texts))
	}
	values := make([]any, len(texts)) // nil for a text that needs no reading
	for i, text := range texts {
		values[i], results[i] = l.read(tree, text)
	}
	l.fillIn(results, db, tree, values)
	return results
}

// fillIn says in results where the rows with the values are. It leaves out those that are nil.
func (l Lookup) fillIn(results []pathlock.Resolution, db *gorm.DB, tree any, values []any) {
	wanted := slices.DeleteFunc(slices.Clone(values), func(value any) bool { return value == nil })
	if len(wanted) == 0 {
		return
	}
	found, above, err := l.rows(db, tree, wanted)
	for i, value := range values {
		switch {
		case value == nil:
		case err != nil:
			results[i].Err = err
		case len(found[value]) == 0 && l.column == l.Key:
			results[i].Err = l.Missing(value)
		case len(found[value]) == 0:
			results[i].Err = plan.NotFound("%s with the %s %s", l.TableName, l.column.DBName, shown.ID(value))
		case len(found[value]) > 1:
			results[i].Err = fmt.Errorf("gormplugin: %s: %d rows have the %s %s: make it unique", l.TableName, len(found[value]), l.column.DBName, shown.ID(value))
		default:
			results[i].Location, results[i].Err = l.locationOf(found[value][0], above)
		}
	}
}

// treeColumn returns what the tree column holds in a tree.
func (l Lookup) treeColumn(ctx context.Context, tree any) (any, error) {
	if !l.inTree {
		return l.Sole, nil
	}
	value, err := l.Convert(ctx, l.Tree, tree)
	if plain, wrong := Plain(tree); wrong == nil && plain == nil {
		value = nil // of a pointer, too
	}
	if err == nil {
		_, err = l.TreeOf(value)
	}
	if err != nil {
		// The program's mistake, whatever the error would say of a client's.
		return nil, fmt.Errorf("gormplugin: %s: no tree to look in: %s", l.TableName, err.Error())
	}
	return value, nil
}

// read returns the value of the column that a text of a request means. For the top of a tree, and
// for a text that means no value, the resolution is known at once.
func (l Lookup) read(tree any, text string) (value any, known pathlock.Resolution) {
	if !l.isPath() {
		if value, known.Err = l.parse(l.column, text); value == nil && known.Err == nil {
			known.Err = l.Missing(text)
		}
		return value, known
	}
	path, err := l.readPath(text)
	switch {
	case err != nil:
		return nil, pathlock.Resolution{Err: fmt.Errorf("%w: %w", pathlock.ErrInvalidID, err)}
	case path.IsRoot():
		known.Tree, known.Err = l.TreeOf(tree)
		return nil, known
	default:
		return path.Column(), known
	}
}

// readPath reads a path of a request: see [treetable.Form.ReadNames].
func (l Lookup) readPath(text string) (pathlock.Path, error) {
	if text == "" || text == l.PathForm.Separator {
		return pathlock.Root(), nil
	}
	path, err := pathlock.ParsePath(l.PathForm.ReadNames(text))
	if err != nil {
		err = fmt.Errorf("%w: %q", pathlock.ErrInvalidPath, shown.Cut(text))
	}
	return path, err
}

// rows returns the live rows that have the values, by value, and for leaves the rows above. It
// remembers them for the request's write, with all rows above them.
func (l Lookup) rows(db *gorm.DB, tree any, values []any) (found map[any][]*Node, above map[any]*Node, err error) {
	var read map[any]*Node
	switch {
	case l.column == l.Key && !l.inTree:
		found = make(map[any][]*Node)
		read, err = l.withAbove(db, values)
		for id, n := range read {
			found[id] = []*Node{n}
		}
	case l.IsLeaf || db.Statement.Context.Value(l.recall) == nil:
		found, read, err = l.query(db, l.matching(tree, values), nil)
	default:
		found, read, err = l.climb(db, l.matching(tree, values), l.names(tree, values))
	}
	if err != nil {
		return nil, nil, err
	}
	l.ancestry.learn(read)
	l.remember(db.Statement.Context, read)
	if l.IsLeaf && len(read) > 0 {
		above, err = l.Above.withAbove(db, parentsOf(read))
	}
	return found, above, err
}

// climb reads the rows that match where, and all above them: these by the primary keys that were
// above the rows with the names last time, or, where that does not lead to the top, by one
// recursive statement.
func (l Lookup) climb(db *gorm.DB, where clause.Expression, names []name) (found map[any][]*Node, read map[any]*Node, err error) {
	defer func() { l.ancestry.rename(names, found) }()
	if above, known := l.ancestry.above(names); known {
		if found, read, err = l.query(db, where, above); err != nil {
			return nil, nil, err
		}
		if l.inTree { // What was above last time may be in another tree by now, and hold the same there.
			elsewhere := func(n *Node) bool { in, _ := l.TreeOf(n.Tree); return in != names[0].tree }
			for value, rows := range found {
				found[value] = slices.DeleteFunc(rows, elsewhere)
			}
		}
		var hits []any
		for _, name := range names {
			for _, n := range found[name.value] {
				hits = append(hits, n.ID)
			}
		}
		if _, missing := chainsIn(read, hits); len(missing) == 0 {
			return found, read, nil
		}
	}
	hit := clause.Expr{SQL: "(SELECT ? FROM ? WHERE ?)", Vars: []any{Column(l.Key), clause.Table{Name: l.TableName}, l.Matching(where, false)}}
	return l.query(db, l.Lineage(hit), nil)
}

// query reads the live rows that match where, and those with the ids in also. It returns all of
// them by id, and by what the column holds.
func (l Lookup) query(db *gorm.DB, where clause.Expression, also []any) (by map[any][]*Node, read map[any]*Node, err error) {
	name := clause.Table{Name: l.TableName}
	d := l.Source(db).Add("SELECT ?, ? FROM ? WHERE ?", l.List, Column(l.column), name, l.Matching(where, false))
	if len(also) > 0 {
		// No index would serve two conditions that OR joins.
		d.Add(" UNION ALL SELECT ?, ? FROM ? WHERE ?", l.List, Column(l.column), name, l.Matching(l.KeyIn(Column(l.Key), also), false))
	}
	by, read = make(map[any][]*Node), make(map[any]*Node)
	err = d.Query(func(rows *sql.Rows) error {
		n, value, err := l.scanned(d.Context, rows)
		if err == nil && read[n.ID] == nil {
			read[n.ID], by[value] = n, append(by[value], n)
		}
		return err
	})
	return by, read, err
}

// names returns what the values of the column are called in the ancestry.
func (l Lookup) names(tree any, values []any) []name {
	in, _ := l.TreeOf(tree) // A column that tells rows of all trees apart has none.
	names := make([]name, len(values))
	for i, value := range values {
		names[i] = name{l.column.DBName, in, value}
	}
	return names
}

// matching is the condition that a row has one of the values, or of the paths.
func (l Lookup) matching(tree any, values []any) clause.Expression {
	if !l.isPath() {
		where := OneOf(l.column, values)
		if l.inTree {
			where = clause.And(l.InTree(tree), where)
		}
		return where
	}
	paths := make([]clause.Expression, len(values))
	for i, value := range values {
		path, _ := pathlock.ParsePath(value.(string))
		paths[i] = l.HasPath(tree, path)
	}
	return AnyOf(paths)
}

// scanned reads a row, and what the column holds in plain form: of a path, the path itself.
func (l Lookup) scanned(ctx context.Context, rows *sql.Rows) (*Node, any, error) {
	held := l.column.NewValuePool.Get()
	defer l.column.NewValuePool.Put(held)
	n, err := l.scan(ctx, rows, false, false, held)
	switch {
	case err != nil:
		return nil, nil, err
	case l.isPath():
		return n, n.Path, nil
	}
	row := reflect.New(l.Schema.ModelType).Elem()
	if err := l.column.Set(ctx, row, held); err != nil {
		return nil, nil, fmt.Errorf("gormplugin: reading %s.%s: %w", l.TableName, l.column.DBName, err)
	}
	value, err := l.ValueIn(ctx, row, l.column)
	return n, value, err
}
