package write

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// AssertNodes asserts nodes for a caller who writes by other means, in the transaction that db is
// in, and takes their path locks before if lock is set. It returns where they are, in the order of
// the keys. To plans and assertions they are rows that are about to be deleted.
func (e *Engine) AssertNodes(db *gorm.DB, t *table.Table, keys []any, lock bool) ([]pathlock.Location, error) {
	tx, err := e.TransactionOf(db)
	switch {
	case err != nil:
		return nil, err
	case tx == nil:
		return nil, fmt.Errorf("%w: asserting needs a transaction", fault.ErrUnmanagedTransaction)
	}
	st := &Statement{Table: t, held: held{Operation: "raw", Note: "raw SQL on " + t.TableName}}
	if err := e.becomeWriter(db, tx, t.Above); err != nil {
		return nil, e.explained(db, st, err)
	}
	stmt := db.Where(t.KeyIn(table.Column(t.Key), keys)).Statement
	w := &writing{Engine: e, DB: db, Tx: tx, St: st}
	planOn := func(hit plan.Hits, known map[any]*table.Node, share string) (*plan.Removal, error) {
		return e.nodesOf(db, t, keys, hit, known, share, lock)
	}
	first := func() (*plan.Removal, error) {
		hit, known, err := e.survey(db, t, stmt)
		if err != nil {
			return nil, err
		}
		return planOn(hit, known, "")
	}
	found, err := assertTargets(e, w, stmt, first, planOn)
	if err != nil {
		return nil, e.explained(db, st, err)
	}
	locations := slices.Repeat([]pathlock.Location{{}}, len(keys))
	for i, key := range keys {
		if locations[i], err = t.Above.Location(found.Live[key]); err != nil {
			return nil, err
		}
	}
	return locations, nil
}

// nodesOf works out what the assertion of the nodes with the keys relies on: that each of them is
// there, and its own path is right, too. Without lock it needs no path locks.
func (e *Engine) nodesOf(db *gorm.DB, t *table.Table, keys []any, hit plan.Hits, known map[any]*table.Node, share string, lock bool) (*plan.Removal, error) {
	for _, n := range hit.Live {
		if err := t.CheckSpelling(n.ID, keys); err != nil {
			return nil, err
		}
	}
	for _, key := range keys {
		if hit.Live[key] == nil {
			return nil, t.Missing(key)
		}
	}
	x, err := removalOf(db, t, hit, known, share)
	if err != nil {
		return nil, err
	}
	if !t.IsLeaf() {
		x.Chains = slices.AppendSeq(x.Chains, maps.Values(hit.Live))
	}
	for _, n := range hit.Live {
		if t.IsLeaf() && x.Parents[n.Parent] == nil {
			return nil, fmt.Errorf("%w: %s, the parent of %s", pathlock.ErrNotFound, t.Above.RowName(n.Parent), t.RowName(n.ID))
		}
	}
	if !lock {
		clear(x.Claims)
	}
	return x, nil
}
