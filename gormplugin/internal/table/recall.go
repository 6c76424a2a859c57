package table

import (
	"context"
	"sync"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// recall holds what a request has read of trees while its ids were resolved. The first write of the
// request uses it instead of its first plain read. That is safe: every plan is asserted under row
// locks, and where that fails the write is planned again on what the locks show.
type recall struct {
	mu   sync.Mutex
	rows map[RecallRow]*Node
}

// recallKey is the key by which a request's context has its [recall]. Plugins that share a locker
// lock the same trees.
type recallKey struct{ locker *pathlock.Locker }

// RecallRow names a row.
type RecallRow struct {
	Table string
	ID    any
}

// remember keeps rows for the request's first write.
func (t *Table) remember(ctx context.Context, rows map[any]*Node) {
	r, _ := ctx.Value(t.recall).(*recall)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = make(map[RecallRow]*Node)
	}
	for _, n := range rows {
		r.rows[RecallRow{t.TableName, n.ID}] = n
	}
}

// Recalled takes what was read for the statement's request, nil if nothing was. Nobody gets it
// twice: a second write reads for itself what the first one may have changed.
func (t *Table) Recalled(db *gorm.DB) map[RecallRow]*Node {
	r, _ := db.Statement.Context.Value(t.recall).(*recall)
	if r == nil || !t.believed {
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
func (t *Table) ChainsIn(read map[RecallRow]*Node, ids []any) map[any]*Node {
	if len(read) == 0 {
		return nil
	}
	found := make(map[any]*Node, len(read))
	for _, id := range ids {
		for id != nil && found[id] == nil {
			n := read[RecallRow{t.TableName, id}]
			if n == nil {
				return nil
			}
			found[id], id = n, n.Parent
		}
	}
	return found
}
