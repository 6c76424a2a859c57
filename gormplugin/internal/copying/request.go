package copying

import (
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// Copier copies subtrees.
type Copier struct{ *write.Planner }

// Request is a copy that was asked for, and what became of it.
type Request struct {
	Table *table.Table
	// ID and parent are in plain form; parent is nil for the top.
	ID, Parent any
	// Name is "" where the copy has the name of the row.
	Name     string
	Snapshot bool
	Values   map[string]any
	Leaves   []LeafCopy
	Attach   []func(tx, pairs *gorm.DB) error

	Rows int64
	Made reflect.Value
}

// LeafCopy is the copying of leaves along.
type LeafCopy struct {
	Model  any
	Values map[string]any
}
