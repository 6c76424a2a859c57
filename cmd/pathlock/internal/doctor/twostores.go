package doctor

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock/store/anystore"
)

// How long the stores may take to end, and how long if the doctor was interrupted.
const (
	closing = 10 * time.Second
	hurried = 200 * time.Millisecond
)

// openTwo opens a lock store twice, as two processes do. The caller calls end, unless there is an
// error.
func openTwo(ctx context.Context, url, password string) (stores [2]*anystore.Store, end func(), err error) {
	end = func() {
		within := closing
		if ctx.Err() != nil {
			within = hurried
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		for _, store := range stores {
			if store != nil {
				_ = store.Close(ctx) // what it has left behind ends with its lease
			}
		}
	}
	for i := range stores {
		if stores[i], err = anystore.Open(ctx, url, anystore.WithPassword(password), anystore.WithoutTables()); err != nil {
			stores[i] = nil
			end()
			return stores, nil, err
		}
	}
	return stores, end, nil
}
