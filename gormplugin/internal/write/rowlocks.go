package write

import (
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// lockChains row-locks the nodes and everything above them for sharing, and checks that each is
// where it was planned to be: see [plan.Chains.Check]. It returns the locked rows, by id. known are
// rows that were read before, which suggest what to lock at once.
//
// To lock only the parent would not be enough: a rename further up may not have reached the
// parent's row yet, and its UPDATE may not see rows that are newer than its snapshot.
func (e *Engine) lockChains(db *gorm.DB, t *table.Table, planned []*table.Node, known map[any]*table.Node) (map[any]*table.Node, error) {
	return e.lockRest(db, t, t.Chains(planned, known, nil))
}

// lockRest locks the rows of c that are not locked yet, and checks the chains. One read is enough
// unless the known rows are out of date; then it finds the way up under locks.
func (e *Engine) lockRest(db *gorm.DB, t *table.Table, c *plan.Chains) (map[any]*table.Node, error) {
	for ids := c.Next(); len(ids) > 0; ids = c.Next() {
		found, err := t.ByID(db, ids, e.Dialect.Share)
		if err != nil {
			return nil, err
		}
		c.Found(maps.Values(found))
	}
	return c.Locked, c.Check()
}

// lockPlanned row-locks what a planned change of rows of t relies on. It locks what is above the
// rows for sharing, as lockChains does and with the same checks, and for the change the rows that
// the statement hits among those of the plan.
func (e *Engine) lockPlanned(db *gorm.DB, t *table.Table, stmt *gorm.Statement, on *plan.Basis) (locked map[any]*table.Node, hit plan.Hits, err error) {
	ids := on.IDs()
	if t.IsLeaf() || len(ids) > table.MaxPlaceholders || len(ids) == 0 {
		if locked, err = e.lockChains(db, t.Above, on.Chains, on.Parents); err != nil {
			return nil, hit, err
		}
		hit, err = e.targetsOf(db, t, stmt, ids, e.Dialect.Update)
		return locked, hit, err
	}
	hit = plan.NewHits()
	c := t.Chains(on.Chains, on.Parents, ids)
	both := t.Direct(db)
	var end string
	if above := c.Next(); len(above) > 0 {
		both.Add(e.Dialect.Both[0])
		table.Selection{Keys: above, Lock: e.Dialect.Share}.AppendTo(both)
		both.Add(e.Dialect.Both[1])
		end = e.Dialect.Both[2]
	}
	hits(t, stmt, ids, e.Dialect.Update).AppendTo(both)
	both.Add(end)
	rows, err := t.Collect(both, e.Dialect.Update != "", false)
	if err != nil {
		return nil, hit, err
	}
	for _, n := range rows {
		if slices.Contains(ids, n.ID) {
			hit.Add([]*table.Node{n})
		}
	}
	c.Found(slices.Values(slices.DeleteFunc(rows, func(n *table.Node) bool { return n.Dead })))
	locked, err = e.lockRest(db, t, c)
	return locked, hit, err
}

// becomeWriter keeps others from writing between the reads of the assertion and the end of the
// transaction, in databases that have no row locks. It does so by a write that touches no row. In a
// transaction that was begun IMMEDIATE that changes nothing; in one that has read an older state it
// fails as busy.
func (e *Engine) becomeWriter(db *gorm.DB, tx *txn.Transaction, t *table.Table) error {
	if !e.Dialect.SoleWriter || !e.Asserts || tx.IsWriter.Load() {
		return nil
	}
	key := clause.Column{Name: t.Key.DBName}
	err := t.UpdateDirect(db, t.Key, key, clause.Expr{SQL: "1 = 0"})
	switch {
	case err == nil:
		tx.IsWriter.Store(true)
		return nil
	case e.Dialect.Classify(err) != dialect.FailureOther:
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	default:
		// The table or the column is missing, or nothing can be written at all.
		return fmt.Errorf("gormplugin: writing to the table %s (AutoMigrate makes what is missing): %w", t.TableName, err)
	}
}
