package gormplugin

import (
	"errors"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// MySQL and MariaDB scan a table, and lock all of it, where a range is a large part of it: somebody
// who edits another tree would have to wait. So the statements that are about the range of a
// subtree name the index over tree and path.

// pathIndex is what is known of a table's index over tree and path.
type pathIndex struct {
	mu sync.Mutex
	// name is the index's; "" where there is none, or none is known yet.
	name string
	// asked is when the catalogue was asked for it.
	asked time.Time
	// childrenFirst is set once a foreign key has been found to want rows deleted from the leaves
	// upwards.
	childrenFirst bool
}

// lookAgain is after which time a table that had no index over tree and path is looked at again.
const lookAgain = time.Minute

// indexQuery finds the indexes that begin with two columns, the shortest first.
const indexQuery = `SELECT i.INDEX_NAME FROM information_schema.STATISTICS AS i
	WHERE i.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND i.TABLE_NAME = ?
	GROUP BY i.INDEX_NAME
	HAVING SUM(i.SEQ_IN_INDEX = 1 AND i.COLUMN_NAME = ?) = 1 AND SUM(i.SEQ_IN_INDEX = 2 AND i.COLUMN_NAME = ?) = 1
	ORDER BY COUNT(*), i.INDEX_NAME`

// hinted is a table, under an alias unless that is "", and the index that a statement is to use of
// it, unless that is "".
type hinted struct{ table, alias, index string }

// Build implements [clause.Expression].
func (h hinted) Build(b clause.Builder) {
	b.WriteQuoted(clause.Table{Name: h.table, Alias: h.alias})
	if h.index != "" {
		clause.Expr{SQL: " FORCE INDEX (?)", Vars: []any{clause.Column{Name: h.index}}}.Build(b)
	}
}

// as gives the table an alias.
func (h hinted) as(alias string) hinted {
	h.alias = alias
	return h
}

// onPathIndex runs a statement about ranges of the index over tree and path. statement is called
// with the table as the statement has to name it, and again where the index is gone.
func (t *table) onPathIndex(db *gorm.DB, statement func(from hinted) error) error {
	plain := hinted{table: t.name}
	if !t.dialect.NamesIndexes || t.isLeaf() {
		return statement(plain)
	}
	name, err := t.pathIndexName(db)
	if err != nil || name == "" {
		return errors.Join(err, statement(plain))
	}
	err = statement(hinted{table: t.name, index: name})
	if failed, ok := errors.AsType[*mysql.MySQLError](err); !ok || failed.Number != errNoSuchIndex {
		return err
	}
	t.forgetPathIndex()
	return statement(plain)
}

// The errors of MySQL and MariaDB for an index that is not there, or not visible, and for a row
// that other rows refer to.
const (
	errNoSuchIndex    = 1176 // ER_KEY_DOES_NOT_EXITS
	errRowReferenced  = 1217 // ER_ROW_IS_REFERENCED
	errRowReferenced2 = 1451 // ER_ROW_IS_REFERENCED_2
)

// pathIndexName returns the name of the index over tree and path, "" if there is none. It asks
// once.
func (t *table) pathIndexName(db *gorm.DB) (string, error) {
	t.index.mu.Lock()
	defer t.index.mu.Unlock()
	if t.index.name != "" || !t.index.asked.IsZero() && time.Since(t.index.asked) < lookAgain {
		return t.index.name, nil
	}
	schema, name := schemaOf(t.name)
	err := t.direct(db).add(indexQuery, schema, name, t.tree.DBName, t.path.DBName).one(&t.index.name)
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return "", err
	}
	t.index.asked = time.Now()
	return t.index.name, nil
}

// forgetPathIndex has statements do without the index for a while.
func (t *table) forgetPathIndex() {
	t.index.mu.Lock()
	defer t.index.mu.Unlock()
	t.index.name, t.index.asked = "", time.Now()
}

// schemaOf splits a table's name into its schema, nil if it states none, and the rest.
func schemaOf(table string) (schema any, name string) {
	name = baseName(table)
	if len(name) == len(table) {
		return nil, name
	}
	return table[:len(table)-len(name)-1], name
}
