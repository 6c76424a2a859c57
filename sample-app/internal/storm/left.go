package storm

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/sample-app/internal/lockstore"
)

// locks returns the URL of the lock store of a row that runs on a database.
func (c Config) locks(db string) string { return cmp.Or(c.Locks, db) }

// left returns in how many trees of a row somebody holds or waits after all instances have ended.
// Nobody else sees the locks of one process, which have ended with it.
func left(ctx context.Context, config Config, db, namespace string) (trees int, err error) {
	if config.Locks == memoryLocks {
		return 0, nil
	}
	store, err := lockstore.Open(ctx, config.locks(db), config.LocksPassword)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	all, err := store.Trees(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for locks that are left: %w", err)
	}
	for _, tree := range all {
		if tree.Namespace() == namespace {
			trees++
		}
	}
	return trees, nil
}
