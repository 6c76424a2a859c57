package write

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"gorm.io/gorm"
)

// Writers returns those of a DB's chains.
func (p *Planner) Writers(db *gorm.DB) (create, update, remove *statement.Writer) {
	cb := db.Callback()
	create = &statement.Writer{Name: "gorm:create", Chain: cb.Create().Get, Kind: func() statement.Kind { return &inserting{Planner: p} }}
	update = &statement.Writer{Name: "gorm:update", Chain: cb.Update().Get, Kind: func() statement.Kind { return &updating{Planner: p} }}
	remove = &statement.Writer{Name: "gorm:delete", Chain: cb.Delete().Get, Kind: func() statement.Kind { return &deleting{Planner: p} }, Deletes: true}
	return create, update, remove
}
