package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
)

// copier copies subtrees.
type copier struct{ *write.Planner }
