package gormplugin

import (
	"context"
	"sync"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// recallKey is under which a request's context has its [recall]. Plugins that share a locker lock
// the same trees.
type recallKey struct{ locker *pathlock.Locker }

// recall holds what a request has read of trees while its ids were resolved. The first write of the
// request believes it, in the place of its first plain read: what a write is planned on is asserted
// under row locks in any case, and where that fails it is planned again on what the locks show.
type recall struct {
	mu   sync.Mutex
	rows map[recallRow]*node
}

// recallRow names a row.
type recallRow struct {
	table string
	id    any
}

// withRecall returns a context in which a resolver leaves what it reads.
func (p *catalogue) withRecall(ctx context.Context) context.Context {
	if !p.believed || ctx.Value(p.recall) != nil {
		return ctx
	}
	return context.WithValue(ctx, p.recall, new(recall))
}

// remember leaves rows for the request's first write.
func (t *table) remember(ctx context.Context, rows ...*node) {
	r, _ := ctx.Value(t.recall).(*recall)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = make(map[recallRow]*node)
	}
	for _, n := range rows {
		r.rows[recallRow{t.name, n.id}] = n
	}
}

// recalled takes what was read for the statement's request, nil if nothing was. Nobody is given it
// again: a second write reads for itself what the first one may have changed.
func (t *table) recalled(db *gorm.DB) map[recallRow]*node {
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

// chainsIn returns the rows of t with the ids, and all above them, from what was read before; nil
// if any is missing.
func (t *table) chainsIn(read map[recallRow]*node, ids []any) map[any]*node {
	if len(read) == 0 {
		return nil
	}
	found := make(map[any]*node, len(read))
	for _, id := range ids {
		for id != nil && found[id] == nil {
			n := read[recallRow{t.name, id}]
			if n == nil {
				return nil
			}
			found[id], id = n, n.parent
		}
	}
	return found
}

// recallErrand returns what [Plugin.survey] would of a statement for which an operation sent e,
// from what the request has read before. Whether rows hang below the row is not known; most have
// none.
func (p *planner) recallErrand(db *gorm.DB, t *table, e *errand, also []any) (hit targets, known map[any]*node, ok bool) {
	if e == nil || !e.alone {
		return hit, nil, false
	}
	read := t.recalled(db)
	n := read[recallRow{t.name, e.id}]
	if n == nil {
		return hit, nil, false
	}
	ids := []any{n.parent}
	for _, id := range also {
		if id != nil {
			ids = append(ids, id)
		}
	}
	if known = t.above.chainsIn(read, ids); known == nil {
		return hit, nil, false
	}
	n.hit, n.childless = true, true
	if !t.isLeaf() {
		known[n.id] = n
	}
	return targets{live: map[any]*node{n.id: n}, dead: make(map[any]*node), recalled: true}, known, true
}
