package write

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
)

// Planner works out what a write does to the tree.
type Planner struct{ *statement.Frame }
