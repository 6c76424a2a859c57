package statement

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/tripwire"
)

// Frame is what any statement on a guarded table runs in.
type Frame struct {
	*hold.Keeper
	*table.Catalogue
	// Wire is what raw SQL goes by.
	Wire *tripwire.Wire
	// MaxTries is how often a statement is tried that runs in a transaction of its own.
	MaxTries int
}
