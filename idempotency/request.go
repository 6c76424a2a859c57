package idempotency

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/carry"
	"github.com/pathlock-go/pathlock/middleware"
)

// ErrTakenOver is why a transaction of a request was rolled back: the request took longer than
// [Config.Lease], and a repetition has taken its place. The error wraps a [*middleware.Problem] of
// status 409.
var ErrTakenOver = errors.New("idempotency: a repetition has taken the place of the request")

// ErrEnded is why a transaction was rolled back that came after the end of its request: the request
// was answered with a failure, so its key is free, and a repetition may run.
var ErrEnded = errors.New("idempotency: the request has ended, and its key was given back")

// request is one that runs under a key.
type request struct {
	keys *Keys
	// id is that of the row, and attempt of the claim.
	id, attempt string
	// recorded is set once a transaction has been committed that has recorded the answer.
	recorded atomic.Bool
	// ended is set once the handler has returned.
	ended atomic.Bool
}

// requestKey is the context key of the request.
type requestKey struct{}

// requestOf returns the request that a context belongs to, nil if there is none. gin's own context
// need not find what the request's has.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	if ctx = carry.Context(ctx, carry.RequestKey); ctx == nil {
		return nil
	}
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// mark notes in a transaction of the request's, right before its COMMIT, that it is committed.
func (r *request) mark(tx *gorm.DB) error {
	pool, err := tx.DB()
	if err != nil {
		return fmt.Errorf("idempotency: the transaction's database: %w", err)
	}
	if pool != r.keys.pool {
		return nil // the row is in another database
	}
	return r.hit(tx.Exec(r.keys.sql.mark, r.id, r.attempt))
}

// hit checks that a statement in a transaction has hit the request's row.
func (r *request) hit(done *gorm.DB) error {
	if done.Error != nil {
		return fmt.Errorf("idempotency: noting that the request takes place: %w", done.Error)
	}
	if done.RowsAffected != 1 && r.ended.Load() {
		return ErrEnded
	}
	if done.RowsAffected != 1 {
		return fmt.Errorf("%w: %w", ErrTakenOver, middleware.Later(http.StatusConflict, slugInUse, "a repetition has taken the place of the request, which took too long"))
	}
	return nil
}
