package write

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"gorm.io/gorm"
)

// Planner works out what a write does to the tree.
type Planner struct{ *statement.Frame }

// Writers returns the writers of a DB's three chains.
func (p *Planner) Writers(db *gorm.DB) (create, update, remove *statement.Writer) {
	cb := db.Callback()
	create = &statement.Writer{Name: "gorm:create", Chain: cb.Create().Get, Kind: func() statement.Kind { return &inserting{Planner: p} }}
	update = &statement.Writer{Name: "gorm:update", Chain: cb.Update().Get, Kind: func() statement.Kind { return &updating{Planner: p} }}
	remove = &statement.Writer{Name: "gorm:delete", Chain: cb.Delete().Get, Kind: func() statement.Kind { return &deleting{Planner: p} }, Deletes: true}
	return create, update, remove
}
