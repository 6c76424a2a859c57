package instance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// every does something again and again until the instance ends.
func (i *Instance) every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				do(ctx)
			}
		}
	})
	i.looking = append(i.looking, func() {
		cancel()
		running.Wait()
	})
}

// purgeEvery is how often old keys of requests are deleted.
const purgeEvery = time.Hour

// keys returns what knows the keys of requests, and begins to delete old ones.
func (i *Instance) keys(ctx context.Context, config Config) (*idempotency.Keys, error) {
	keys, err := idempotency.New(i.DB.Write, idempotency.Config{
		Scope: idempotency.OneScope, // whoever reaches the server may see everything
		Table: "idempotency_keys", BodyTimeout: config.BodyTimeout, Log: config.Log,
		Fail: func(c *gin.Context, p *middleware.Problem) {
			i.locker.Answered(c.Request.Context(), pathlock.Failure(p.Slug()))
			middleware.WriteProblem(c, p)
		},
	})
	if err != nil {
		return nil, err
	}
	if err := keys.Migrate(ctx); err != nil {
		return nil, err
	}
	i.every(ctx, purgeEvery, func(ctx context.Context) {
		if _, err := keys.Purge(ctx); err != nil && ctx.Err() == nil {
			config.Log.WarnContext(ctx, "old keys of requests stay for now", "error", err)
		}
	})
	return keys, nil
}

// askTimeout is how long the lock store may take to answer, and askEvery how often it is asked.
const askTimeout, askEvery = 3 * time.Second, 5 * time.Second

// watchLockStore logs when the lock store stops answering, or is not that of the other instances,
// at the start and from then on: another may answer in its place, or it may have lost its data. An
// instance still serves: without its lock store, it refuses only writes.
func (i *Instance) watchLockStore(ctx context.Context, log *slog.Logger) {
	seen := i.askLockStore(ctx, log, nil)
	i.every(ctx, askEvery, func(ctx context.Context) { seen = i.askLockStore(ctx, log, seen) })
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
