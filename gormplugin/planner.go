package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"gorm.io/gorm"
)

// planner works out what a write does to the tree.
type planner struct{ *statement.Frame }

// writers returns those of a DB's chains.
func (p *planner) writers(db *gorm.DB) (create, update, remove *statement.Writer) {
	cb := db.Callback()
	create = &statement.Writer{Name: "gorm:create", Chain: cb.Create().Get, Kind: func() statement.Kind { return &inserting{planner: p} }}
	update = &statement.Writer{Name: "gorm:update", Chain: cb.Update().Get, Kind: func() statement.Kind { return &updating{planner: p} }}
	remove = &statement.Writer{Name: "gorm:delete", Chain: cb.Delete().Get, Kind: func() statement.Kind { return &deleting{planner: p} }, Deletes: true}
	return create, update, remove
}
