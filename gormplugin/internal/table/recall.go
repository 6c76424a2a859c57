package table

import (
	"context"
	"maps"
	"sync"

	"gorm.io/gorm"
)

// recall holds what a request has read of trees while its ids were resolved. The first write of the
// request uses it instead of its first plain read. That is safe: every plan is asserted under row
// locks, and where that fails the write is planned again on what the locks show.
type recall struct {
	mu sync.Mutex
	// rows are those of each table, by its name, by id.
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

// Recalled takes what was read for the statement's request, nil if nothing was. Nobody gets it
// twice: a second write reads for itself what the first one may have changed.
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
