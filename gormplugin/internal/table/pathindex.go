package table

import (
	"errors"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// MySQL and MariaDB scan a table, and lock all of it, if a range is a large part of it: writers of
// other trees would have to wait. So statements about the range of a subtree name the index over
// tree and path.

// pathIndex is what is known of a table's index over tree and path.
type pathIndex struct {
	mu sync.Mutex
	// name is the index's; "" if there is none, or none is known yet.
	name string
	// asked is when the database was asked for it.
	asked time.Time
}

// lookAgain is how long the plugin believes that a table without an index over tree and path still
// has none.
const lookAgain = time.Minute

// indexQuery finds the indexes whose first column is the one given, and whose column with the given
// number is the other, the shortest first.
const indexQuery = `SELECT i.INDEX_NAME FROM information_schema.STATISTICS AS i
	WHERE i.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND i.TABLE_NAME = ?
	GROUP BY i.INDEX_NAME
	HAVING SUM(i.SEQ_IN_INDEX = 1 AND i.COLUMN_NAME = ?) = 1 AND SUM(i.SEQ_IN_INDEX = ? AND i.COLUMN_NAME = ?) = 1
	ORDER BY COUNT(*), i.INDEX_NAME`

// Hinted names a table in a statement, its alias and the index to use. alias and index are "" where
// there is none.
type Hinted struct{ table, alias, index string }

// Build implements [clause.Expression].
func (h Hinted) Build(b clause.Builder) {
	b.WriteQuoted(clause.Table{Name: h.table})
	if h.alias != "" {
		clause.Expr{SQL: " AS ?", Vars: []any{clause.Column{Name: h.alias}}}.Build(b) // an UPDATE of SQLite needs the AS
	}
	if h.index != "" {
		clause.Expr{SQL: " FORCE INDEX (?)", Vars: []any{clause.Column{Name: h.index}}}.Build(b)
	}
}

// As gives the table an alias.
func (h Hinted) As(alias string) Hinted {
	h.alias = alias
	return h
}

// OnPathIndex runs a statement about ranges of the index over tree and path. It calls statement
// with the table as the statement has to name it, and once more if the index is gone.
func (t *Table) OnPathIndex(db *gorm.DB, statement func(from Hinted) error) error {
	if t.IsLeaf {
		return statement(Hinted{table: t.TableName})
	}
	return onIndexes(db, func(from []Hinted) error { return statement(from[0]) }, t)
}

// OnLeaves runs a statement about the leaves, called c, below rows of the table above: those of
// ranges of the index over tree and path, as [Table.OnPathIndex] does, or those with some keys. It
// calls statement with the rows above, called p, with the leaves, and with the condition for both
// to be live and selected.
func (t *Table) OnLeaves(db *gorm.DB, rows Selection, statement func(above, leaves, where clause.Expression) error) error {
	return onIndexes(db, func(from []Hinted) error {
		above, where := clause.Expression(from[0].As("p")), Under("p", t.Above.Matching(rows.Where, false))
		switch {
		case rows.Keys != nil:
			above = clause.Expr{SQL: "? " + t.Dialect.PrimaryKeyHint, Vars: []any{Hinted{table: t.Above.TableName, alias: "p"}}}
			where = Under("p", t.Above.Matching(t.Above.KeyIn(Column(t.Above.Key), rows.Keys), false))
		case from[0].index != "":
			// An UPDATE of a join locks the first row behind a range, unless it reads the range
			// from the index alone.
			key := func(alias string) clause.Column { return clause.Column{Table: alias, Name: t.Above.Key.DBName} }
			above = clause.Expr{SQL: "? STRAIGHT_JOIN ? " + t.Dialect.PrimaryKeyHint + " ON ? = ?", Vars: []any{
				from[0].As("r"), Hinted{table: t.Above.TableName, alias: "p"}, key("p"), key("r"),
			}}
			where = clause.And(Under("r", rows.Where), Under("p", t.Above.Alive))
		}
		// An index over the live leaves of each row serves only the bare condition: see AlsoWhere.
		return statement(above, from[1].As("c"), Under("c", clause.Expr{SQL: "? AND ?", Vars: []any{where, t.Alive}}))
	}, t.Above, t)
}

// onIndexes runs a statement on tables by their indexes. If one of these is gone, it runs it again
// without indexes.
func onIndexes(db *gorm.DB, statement func(from []Hinted) error, tables ...*Table) error {
	plain, hinted := make([]Hinted, len(tables)), make([]Hinted, len(tables))
	for i, t := range tables {
		name, err := t.pathIndexName(db)
		if err != nil {
			return err
		}
		plain[i].table, hinted[i] = t.TableName, Hinted{table: t.TableName, index: name}
	}
	err := statement(hinted)
	if dialect.MySQLNumber(err) != errNoSuchIndex {
		return err
	}
	for _, t := range tables {
		t.index.mu.Lock()
		t.index.name, t.index.asked = "", time.Now() // the statements do without it for a while
		t.index.mu.Unlock()
	}
	return statement(plain)
}

// pathIndexName returns the name of the index over tree and path, or of a leaf's over its parent,
// "" if there is none, or statements need not name it. It asks the database once and, while there
// is none, every [lookAgain].
func (t *Table) pathIndexName(db *gorm.DB) (string, error) {
	t.index.mu.Lock()
	defer t.index.mu.Unlock()
	if !t.Dialect.NamesIndexes || t.index.name != "" || !t.index.asked.IsZero() && time.Since(t.index.asked) < lookAgain {
		return t.index.name, nil
	}
	schema, name := schemaOf(t.TableName)
	first, last, number := t.Path, t.Path, 1
	switch {
	case t.IsLeaf:
		first, last = t.Parent, t.Parent
	case t.Tree != nil:
		first, number = t.Tree, 2
	}
	err := t.Direct(db).Add(indexQuery, schema, name, first.DBName, number, last.DBName).One(&t.index.name)
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return "", err
	}
	t.index.asked = time.Now()
	return t.index.name, nil
}

// errNoSuchIndex is the error of MySQL and MariaDB for an index that is not there, or not visible.
const errNoSuchIndex = 1176 // ER_KEY_DOES_NOT_EXITS
