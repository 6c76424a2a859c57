package instance

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock/idempotency"
)

// purgeEvery is how often old keys of requests are deleted.
const purgeEvery = time.Hour

// purge deletes old keys of requests until it is stopped.
type purge struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// newPurge begins to delete.
func newPurge(keys *idempotency.Keys, log *slog.Logger) *purge {
	ctx, cancel := context.WithCancel(context.Background())
	p := &purge{cancel: cancel}
	p.running.Go(func() {
		ticker := time.NewTicker(purgeEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if _, err := keys.Purge(ctx); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "old keys of requests stay for now", "error", err)
			}
		}
	})
	return p
}

// stop ends it, and waits for its end.
func (p *purge) stop() {
	p.cancel()
	p.running.Wait()
}
