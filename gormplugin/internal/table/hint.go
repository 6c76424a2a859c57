package table

import (
	"errors"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Hinted is a table, under an alias unless that is "", and the index that a statement is to use of
// it, unless that is "".
type Hinted struct{ table, alias, index string }

// Build implements [clause.Expression].
func (h Hinted) Build(b clause.Builder) {
	b.WriteQuoted(clause.Table{Name: h.table, Alias: h.alias})
	if h.index != "" {
		clause.Expr{SQL: " FORCE INDEX (?)", Vars: []any{clause.Column{Name: h.index}}}.Build(b)
	}
}

// As gives the table an alias.
func (h Hinted) As(alias string) Hinted {
	h.alias = alias
	return h
}

// OnPathIndex runs a statement about ranges of the index over tree and path. statement is called
// with the table as the statement has to name it, and again where the index is gone.
func (t *Table) OnPathIndex(db *gorm.DB, statement func(from Hinted) error) error {
	plain := Hinted{table: t.TableName}
	if !t.Dialect.NamesIndexes || t.IsLeaf() {
		return statement(plain)
	}
	name, err := t.pathIndexName(db)
	if err != nil || name == "" {
		return errors.Join(err, statement(plain))
	}
	err = statement(Hinted{table: t.TableName, index: name})
	if failed, ok := errors.AsType[*mysql.MySQLError](err); !ok || failed.Number != errNoSuchIndex {
		return err
	}
	t.forgetPathIndex()
	return statement(plain)
}

// pathIndexName returns the name of the index over tree and path, "" if there is none. It asks
// once.
func (t *Table) pathIndexName(db *gorm.DB) (string, error) {
	t.Index.mu.Lock()
	defer t.Index.mu.Unlock()
	if t.Index.name != "" || !t.Index.asked.IsZero() && time.Since(t.Index.asked) < lookAgain {
		return t.Index.name, nil
	}
	schema, name := schemaOf(t.TableName)
	err := t.Direct(db).Add(indexQuery, schema, name, t.Tree.DBName, t.Path.DBName).One(&t.Index.name)
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return "", err
	}
	t.Index.asked = time.Now()
	return t.Index.name, nil
}

// forgetPathIndex has statements do without the index for a while.
func (t *Table) forgetPathIndex() {
	t.Index.mu.Lock()
	defer t.Index.mu.Unlock()
	t.Index.name, t.Index.asked = "", time.Now()
}

// errNoSuchIndex is the error of MySQL and MariaDB for an index that is not there, or not visible.
const errNoSuchIndex = 1176 // ER_KEY_DOES_NOT_EXITS
