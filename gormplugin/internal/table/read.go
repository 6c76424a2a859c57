package table

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Selection says which rows of a table are read, and how.
type Selection struct {
	// From is what is read from; nil for the table.
	From clause.Expression
	// Where is the condition, and Keys are those of the rows; nil for all rows. Softly deleted rows
	// are left out unless Unscoped is set.
	Where    clause.Expression
	Keys     []any
	Unscoped bool
	// Lock is what the rows are locked with; "" for a plain read.
	Lock string
	// Ends are clauses behind the condition, such as a LIMIT.
	Ends []clause.Expression
}

// AppendTo appends a SELECT of the table's place columns to d.
func (s Selection) AppendTo(d *Direct) {
	t := d.table
	d.Add("SELECT ?", t.List)
	if s.Lock != "" && t.Dialect.Isolation != "" {
		d.Add(", " + t.Dialect.Isolation)
	}
	if s.From == nil {
		s.From = Hinted{table: t.TableName}
	}
	d.Add(" FROM ?", s.From)
	where := t.Matching(s.Where, s.Unscoped)
	if s.Keys != nil {
		// The hint keeps a locking read from scanning, and so locking, a table that the database
		// believes to be small.
		if t.Dialect.PrimaryKeyHint != "" {
			d.Add(" " + t.Dialect.PrimaryKeyHint)
		}
		where = clause.Expr{SQL: "? AND (?)", Vars: []any{t.KeyIn(Column(t.Key), s.Keys), t.AlsoWhere(where)}}
	}
	d.Add(" WHERE ?", where)
	for _, c := range s.Ends {
		d.Add(" ?", c)
	}
	if s.Lock != "" {
		d.Add(" " + s.Lock)
	}
}

// Matching is the condition where, of live rows unless unscoped is set.
func (t *Table) Matching(where clause.Expression, unscoped bool) clause.Expression {
	switch {
	case unscoped && where == nil:
		return clause.Expr{SQL: "1 = 1"}
	case unscoped:
		return where
	case where == nil:
		return t.Alive
	default:
		return clause.Expr{SQL: "(?) AND ?", Vars: []any{where, t.AlsoWhere(t.Alive)}}
	}
}

// Read returns the rows that are selected, those of many keys by several statements.
func (t *Table) Read(db *gorm.DB, s Selection) (nodes []*Node, err error) {
	parts := [][]any{nil}
	if s.Keys != nil {
		parts = slices.Collect(slices.Chunk(s.Keys, MaxPlaceholders))
	}
	for _, s.Keys = range parts {
		d := t.Source(db)
		s.AppendTo(d)
		some, err := t.Collect(d, s.Lock != "", false)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, some...)
	}
	return nodes, nil
}

// ReadRanges is [Table.Read] of rows in ranges of the index over tree and path.
func (t *Table) ReadRanges(db *gorm.DB, s Selection) (nodes []*Node, err error) {
	err = t.OnPathIndex(db, func(from Hinted) (err error) {
		s.From = from
		nodes, err = t.Read(db, s)
		return err
	})
	return nodes, err
}

// ByID returns the live rows with the given ids. If it locks, it locks nothing but these rows:
// an equality on the primary key takes no gap lock. A look-up by path would, and inserts elsewhere
// in the tree would wait for it.
func (t *Table) ByID(db *gorm.DB, ids []any, lock string) (map[any]*Node, error) {
	found := make(map[any]*Node, len(ids))
	if len(ids) == 0 { // no keys at all would stand for all rows
		return found, nil
	}
	nodes, err := t.Read(db, Selection{Keys: ids, Lock: lock})
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		found[n.ID] = n
	}
	return found, t.CheckSpelling(found, ids)
}

// CheckSpelling refuses a row that the database has found by a key that is spelled otherwise.
func (t *Table) CheckSpelling(rows map[any]*Node, keys []any) error {
	if !slices.ContainsFunc(keys, func(key any) bool { _, isText := key.(string); return isText }) {
		return nil // other keys have one spelling
	}
	asked := make(map[any]bool, len(keys))
	for _, key := range keys {
		asked[key] = true
	}
	for id := range rows {
		if text, ok := id.(string); ok && !asked[id] {
			return fmt.Errorf("%w: %w: the database spells %q differently: state the key as it is spelled there, or give the column a collation that distinguishes all keys",
				pathlock.ErrInvalidID, shown.Inside(t.TableName), shown.Cut(text))
		}
	}
	return nil
}

// Find returns the row with the id, which may be a deleted one where db is Unscoped.
func (t *Table) Find(db *gorm.DB, id any) (*Node, error) {
	key, err := t.KeyOf(db, id)
	if err != nil {
		return nil, err
	}
	found, err := t.Read(db, Selection{Where: clause.Eq{Column: Column(t.Key), Value: key}, Unscoped: db.Statement.Unscoped})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, t.Missing(id)
	}
	return found[0], nil
}

// Query makes db query rows of t, live ones unless db is Unscoped.
func (t *Table) Query(db *gorm.DB) *gorm.DB {
	db = db.Model(t.Fresh())
	if t.plainMark && !db.Statement.Unscoped {
		db = db.Where(t.Alive) // GORM hides the others by itself
	}
	return db
}

// Part starts a query for rows of t, live ones unless unscoped is set, as a part of a query of the
// caller's.
func (t *Table) Part(db *gorm.DB, unscoped bool) *gorm.DB {
	tx := db.Session(&gorm.Session{NewDB: true, SkipHooks: true}).Model(nil)
	tx.Statement.Unscoped = unscoped
	return t.Query(tx)
}

// Resolve returns where the live row with the key is.
func (t *Table) Resolve(db *gorm.DB, key any) (pathlock.Location, error) {
	if key == nil {
		return pathlock.Location{}, t.Missing(key)
	}
	found := make([]pathlock.Resolution, 1)
	Lookup{t, t.Key, false}.fillIn(found, db, t.Sole, []any{key})
	return found[0].Location, found[0].Err
}

// locationOf returns where a row is. above has the parents of leaves.
func (t *Table) locationOf(n *Node, above map[any]*Node) (pathlock.Location, error) {
	if !t.IsLeaf {
		return t.Location(n)
	}
	parent := above[n.Parent]
	if parent == nil {
		return pathlock.Location{}, fmt.Errorf("the parent of %s: %w", t.RowName(n.ID), t.Above.Missing(n.Parent))
	}
	location, err := t.Above.Location(parent)
	if err != nil {
		return pathlock.Location{}, err
	}
	if location.Path, err = location.Path.Child(n.Name); err != nil {
		return pathlock.Location{}, t.Damaged(n.ID, err)
	}
	location.Leaf = true
	return location, nil
}

// withAbove returns the live rows with the ids. In a request that remembers rows for its write, it
// returns all live rows above them, too, unless these are of another table.
func (t *Table) withAbove(db *gorm.DB, ids []any) (rows map[any]*Node, err error) {
	if t.IsLeaf || db.Statement.Context.Value(t.recall) == nil {
		rows, err = t.ByID(db, ids, "")
	} else {
		rows, err = t.Climb(db, ids)
	}
	if err == nil {
		t.remember(db.Statement.Context, rows)
	}
	return rows, err
}

// recall holds what a request has read of trees while its ids were resolved. The first write of the
// request uses it instead of its first plain read. That is safe: every plan is asserted under row
// locks, and where that fails the write is planned again on what the locks show.
type recall struct {
	mu sync.Mutex
	// rows are those of each table, by the table's name and by id.
	rows map[string]map[any]*Node
}

// recallKey is the key by which a request's context has its [recall]. Another plugin's tables may
// be in another database, where the same id is another row's.
type recallKey struct{ of *Catalogue }

// remember keeps rows for the request's first write.
func (t *Table) remember(ctx context.Context, rows map[any]*Node) {
	r, _ := ctx.Value(t.recall).(*recall)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = make(map[string]map[any]*Node)
	}
	if r.rows[t.TableName] == nil {
		r.rows[t.TableName] = make(map[any]*Node)
	}
	maps.Copy(r.rows[t.TableName], rows)
}

// Recalled takes the rows that were read for the statement's request, nil if there are none. Nobody
// gets them twice: the first write may change them, so a second one reads for itself.
func (t *Table) Recalled(db *gorm.DB) map[string]map[any]*Node {
	r, _ := db.Statement.Context.Value(t.recall).(*recall)
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := r.rows
	r.rows = nil
	return rows
}

// ChainsIn returns the rows of t with the ids, and all above them, from what was read before; nil
// if any is missing.
func (t *Table) ChainsIn(read map[string]map[any]*Node, ids []any) map[any]*Node {
	found, missing := chainsIn(read[t.TableName], ids)
	if len(missing) > 0 {
		return nil
	}
	return found
}
