package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/tripwire"
)

// frame is what any statement on a guarded table runs in.
type frame struct {
	*hold.Keeper
	*table.Catalogue
	// wire is what raw SQL goes by.
	wire *tripwire.Wire
	// maxTries is how often a statement is tried that runs in a transaction of its own.
	maxTries int
}
