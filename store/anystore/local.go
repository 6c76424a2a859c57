package anystore

import (
	"context"

	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// openMemory opens a store for this process only.
func openMemory(context.Context, string, options) (opened, error) {
	return opened{store: memstore.New()}, nil
}

// openOff opens a store that grants everything to everybody, which is the worst way for a lock
// store to fail. Only the assertion in the database then protects a tree.
func openOff(context.Context, string, options) (opened, error) {
	return opened{store: offstore.New()}, nil
}
