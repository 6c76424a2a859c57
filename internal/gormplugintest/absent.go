package gormplugintest

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// comingAndGoing returns a lock store that is away again and again, as a server does behind a bad
// network. Who asks meanwhile goes on without it: so owners that it knows, and owners that it does
// not know, write at once.
func comingAndGoing(every time.Duration) pathlock.Store {
	away := &absent{Store: memstore.New(), every: every, begun: time.Now()}
	return pathlock.Degrade(away, pathlock.Degradation{Retry: every / 5, Log: slog.New(slog.DiscardHandler)})
}

// absent is a store that grants nothing for every second period.
type absent struct {
	pathlock.Store
	every time.Duration
	begun time.Time
}

// Acquire implements [pathlock.Store].
func (a *absent) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if time.Since(a.begun)/a.every%2 == 1 {
		return pathlock.Grant{}, fmt.Errorf("%w: not now", pathlock.ErrUnavailable)
	}
	return a.Store.Acquire(ctx, req)
}
