package gormplugin

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/carry"
)

// owner is whose transactions these are: it begins them, and their path locks are those of its
// locker.
type owner struct {
	locker *pathlock.Locker
	// carrier is the key under which a framework's context has the locks of its request.
	carrier any
	// dialect is known once the plugin is in use.
	dialect    *dialect.Dialect
	recognised recognised
}

// newOwner returns one for a locker.
func newOwner(locker *pathlock.Locker) *owner {
	return &owner{locker: locker, carrier: carry.Key(locker)}
}
