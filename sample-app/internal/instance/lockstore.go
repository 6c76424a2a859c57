package instance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// askTimeout is how long the lock store may take to answer, and askEvery how often it is asked.
const askTimeout, askEvery = 3 * time.Second, 5 * time.Second

// watchLockStore logs when the lock store stops to answer, or is not the one of the other
// instances, at the start and from then on: another may answer in its place, or it may have lost
// its data. An instance serves all the same: without its lock store it refuses writes alone.
func (i *Instance) watchLockStore(ctx context.Context, log *slog.Logger) {
	seen := i.askLockStore(ctx, log, nil)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(askEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				seen = i.askLockStore(ctx, log, seen)
			}
		}
	})
	i.looking = append(i.looking, func() {
		cancel()
		running.Wait()
	})
}

// askLockStore returns what is wrong with the lock store, and logs it unless it was seen before.
func (i *Instance) askLockStore(ctx context.Context, log *slog.Logger, seen error) error {
	limited, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err := gormplugin.VerifyLocks(i.DB.Write.WithContext(limited))
	same := func(kind error) bool { return errors.Is(err, kind) && errors.Is(seen, kind) }
	switch {
	case err == nil, ctx.Err() != nil, same(pathlock.ErrUnavailable), same(gormplugin.ErrOtherLocks):
	case errors.Is(err, pathlock.ErrUnavailable):
		log.WarnContext(ctx, "the lock store "+anystore.Trouble(err)+"; nothing is written until it serves",
			"locks", i.Store.String(), "error", err)
	case errors.Is(err, gormplugin.ErrOtherLocks):
		log.ErrorContext(ctx, "see that all instances have the same lock store and namespace", "locks", i.Store.String(), "error", err)
	case seen == nil:
		log.ErrorContext(ctx, "which lock store the other instances have is not known", "locks", i.Store.String(), "error", err)
	}
	return err
}
