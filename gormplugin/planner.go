package gormplugin

import "gorm.io/gorm"

// planner works out what a write does to the tree.
type planner struct{ *frame }

// writers returns those of a DB's chains.
func (p *planner) writers(db *gorm.DB) (create, update, remove *writer) {
	cb := db.Callback()
	create = &writer{name: "gorm:create", chain: cb.Create().Get, kind: func() kind { return &inserting{planner: p} }}
	update = &writer{name: "gorm:update", chain: cb.Update().Get, kind: func() kind { return &updating{planner: p} }}
	remove = &writer{name: "gorm:delete", chain: cb.Delete().Get, kind: func() kind { return &deleting{planner: p} }, deletes: true}
	return create, update, remove
}
