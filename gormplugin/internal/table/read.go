package table

import (
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
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
	// Order and Limit are clauses of the statement for which the rows are read.
	Order, Limit clause.Expression
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
		// takes for small.
		if t.Dialect.PrimaryKeyHint != "" {
			d.Add(" " + t.Dialect.PrimaryKeyHint)
		}
		where = clause.Expr{SQL: "? AND (?)", Vars: []any{t.KeyIn(Column(t.Key), s.Keys), t.Aside(where)}}
	}
	d.Add(" WHERE ?", where)
	for _, c := range []clause.Expression{s.Order, s.Limit} {
		if c != nil {
			d.Add(" ?", c)
		}
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
		return clause.Expr{SQL: "(?) AND ?", Vars: []any{where, t.Aside(t.Alive)}}
	}
}

// Read returns the rows that are selected.
func (t *Table) Read(db *gorm.DB, s Selection) ([]*Node, error) {
	d := t.Source(db)
	s.AppendTo(d)
	return t.Collect(d, s.Lock != "", false)
}

// ByID returns the live rows with the given ids. Where it locks, it locks nothing but these rows:
// an equality on the primary key takes no gap lock. A look-up by path would, and inserts elsewhere
// in the tree would wait for it.
func (t *Table) ByID(db *gorm.DB, ids []any, lock string) (map[any]*Node, error) {
	found := make(map[any]*Node, len(ids))
	for chunk := range slices.Chunk(ids, MaxPlaceholders) {
		nodes, err := t.Read(db, Selection{Keys: chunk, Lock: lock})
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if err := t.CheckSpelling(n.ID, chunk); err != nil {
				return nil, err
			}
			found[n.ID] = n
		}
	}
	return found, nil
}

// CheckSpelling refuses a row that the database has found by one of the keys, which is spelled
// otherwise.
func (t *Table) CheckSpelling(id any, keys []any) error {
	if text, ok := id.(string); ok && !slices.Contains(keys, id) {
		return fmt.Errorf("%w: %s: the database finds %q by another text: state the key as it is spelled there, or give the column a collation by which different keys differ",
			pathlock.ErrInvalidID, t.TableName, shown.Cut(text))
	}
	return nil
}

// LookUp returns the row with the id, which may be a deleted one where db is Unscoped.
func (t *Table) LookUp(db *gorm.DB, id any) (*Node, error) {
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

// Query has db query rows of t, of live ones unless db is Unscoped.
func (t *Table) Query(db *gorm.DB) *gorm.DB {
	db = db.Model(t.Fresh())
	if t.plainMark && !db.Statement.Unscoped {
		db = db.Where(t.Alive) // GORM hides the others by itself
	}
	return db
}

// Part starts a query for rows of t, of live ones unless unscoped is set, to be a part of a query
// of the caller's.
func (t *Table) Part(db *gorm.DB, unscoped bool) *gorm.DB {
	tx := db.Session(&gorm.Session{NewDB: true, SkipHooks: true}).Model(nil)
	tx.Statement.Unscoped = unscoped
	return t.Query(tx)
}
