package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// recallErrand returns what [Plugin.survey] would of a statement for which an operation sent e,
// from what the request has read before. Whether rows hang below the row is not known; most have
// none.
func (p *planner) recallErrand(db *gorm.DB, t *table.Table, e *statement.Errand, also []any) (hit targets, known map[any]*table.Node, ok bool) {
	if e == nil || !e.Alone {
		return hit, nil, false
	}
	read := t.Recalled(db)
	n := read[table.RecallRow{Table: t.TableName, ID: e.ID}]
	if n == nil {
		return hit, nil, false
	}
	ids := []any{n.Parent}
	for _, id := range also {
		if id != nil {
			ids = append(ids, id)
		}
	}
	if known = t.Above.ChainsIn(read, ids); known == nil {
		return hit, nil, false
	}
	n.Hit, n.Childless = true, true
	if !t.IsLeaf() {
		known[n.ID] = n
	}
	return targets{live: map[any]*table.Node{n.ID: n}, dead: make(map[any]*table.Node), recalled: true}, known, true
}
