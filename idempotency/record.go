package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"github.com/pathlock-go/pathlock/middleware"
)

// Answer is the answer to a repetition of a request.
type Answer struct {
	Status int
	// Header has the headers to record. Only those in [Config.Headers] and its defaults are
	// recorded.
	Header http.Header
	Body   []byte
}

// Record writes the answer of the request into the transaction of its effect: both are committed,
// or neither. tx runs under the context of the request. Without a key, Record does nothing, so a
// handler need not know whether there is one. The handler still answers by itself, and should
// answer the same.
//
// Call it last in the transaction: from then on, repetitions may have to wait for the commit. If a
// request has several transactions, call it in the last one.
//
// A body larger than [Config.MaxAnswer] is not recorded: repetitions learn that the request took
// effect. Roll the transaction back after an error. It matches [ErrTakenOver] if a repetition has
// taken the place of the request, [ErrEnded] after its end, [ErrElsewhere] if tx is in another
// database than the table of keys, and [gormplugin.ErrUnmanagedTransaction] if tx is not a
// transaction of the plugin's.
func Record(tx *gorm.DB, answer Answer) error {
	r := requestOf(tx.Statement.Context)
	if r == nil {
		return nil
	}
	k := r.keys
	headers, err := k.encode(answer.Header)
	if err != nil {
		return err
	}
	tx = tx.Session(&gorm.Session{NewDB: true})
	if len(answer.Body) > k.config.MaxAnswer {
		return r.note(tx, k.sql.mark, r.id, r.attempt)
	}
	if err := gormplugin.AfterCommit(tx, func(context.Context) { r.recorded.Store(true) }); err != nil {
		return fmt.Errorf("idempotency: recording an answer: %w", err)
	}
	return r.note(tx, k.sql.record, answer.Status, headers, answer.Body, k.config.Keep.Milliseconds(), r.id, r.attempt)
}

// RecordJSON records the answer that c.JSON(status, value) sends: see [Record].
func RecordJSON(tx *gorm.DB, status int, value any) error {
	if requestOf(tx.Statement.Context) == nil {
		return nil
	}
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("idempotency: recording an answer: %w", err)
	}
	return Record(tx, Answer{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: body})
}

// encode returns the headers that are recorded, as text.
func (k *Keys) encode(all http.Header) (string, error) {
	kept := make(http.Header)
	for _, name := range k.headers {
		if values := all.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return "", fmt.Errorf("idempotency: recording an answer: %w", err)
	}
	return string(text), nil
}

// ErrTakenOver means that a transaction of a request was rolled back because the request took
// longer than [Config.Lease], and a repetition has taken its place. The error wraps a
// [*middleware.Problem] of status 409.
var ErrTakenOver = errors.New("idempotency: a repetition has taken the place of the request")

// ErrEnded means that a transaction was rolled back because its request had already ended with a
// failure, so the key is free, and a repetition may run.
var ErrEnded = errors.New("idempotency: the request has ended, and its key was given back")

// ErrElsewhere means that a transaction of a request was rolled back because its database does not
// have the request's row, so a repetition could not know of the transaction. [AtLeastOnce] is for
// such databases. If the transaction came through another pool of connections to the database of
// the keys, a repetition has taken the place of the request, as with [ErrTakenOver].
var ErrElsewhere = errors.New("idempotency: the transaction is in another database than the table of keys, so a repetition of the request would do it again; if it may, begin it under AtLeastOnce(ctx)")

// atLeastOnceKey is the context key of [AtLeastOnce].
type atLeastOnceKey struct{}

// AtLeastOnce returns a context for transactions that the request's row does not record: each
// repetition that runs does them again. It is for other databases than that of the keys, such as
// one of audit records, that use the plugin as well. Locks and values are those of ctx.
func AtLeastOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, atLeastOnceKey{}, true)
}

// request is one that runs under a key.
type request struct {
	keys *Keys
	// id is that of the row, and attempt of the claim.
	id, attempt string
	// recorded is set once a transaction that has recorded the answer has been committed.
	recorded atomic.Bool
	// ended is set once the handler has returned.
	ended atomic.Bool
}

// requestKey is the context key of the request.
type requestKey struct{}

// requestOf returns the request that a context belongs to, nil if there is none.
func requestOf(ctx context.Context) *request {
	r, _ := gincontext.Lookup(ctx, requestKey{}).(*request)
	return r
}

// mark notes in a transaction of the request's, right before its COMMIT, that it is committed.
func (r *request) mark(tx *gorm.DB) error {
	if tx.Statement.Context.Value(atLeastOnceKey{}) != nil {
		return nil
	}
	return r.note(tx, r.keys.sql.mark, r.id, r.attempt)
}

// note changes the request's row in a transaction. It does not matter which pool began it: nobody
// else knows the attempt, so the transaction is in the database of the keys if it finds the row. If
// it does not, the pool tells whether a repetition has taken over the row, or the database is
// another one.
func (r *request) note(tx *gorm.DB, sql string, values ...any) error {
	done := tx.Exec(sql, values...)
	if done.Error == nil && done.RowsAffected == 1 {
		return nil
	}
	if done.Error == nil && r.ended.Load() {
		return ErrEnded
	}
	pool, err := tx.DB()
	switch {
	case pool != r.keys.pool && r.keys.failureOf(done.Error) != pathlock.FailureLocked:
		// What the other database says, such as that there is no table, asks for no repetition.
		return fmt.Errorf("%w: %v", ErrElsewhere, errors.Join(err, done.Error)) //nolint:errorlint // see above
	case done.Error != nil:
		return fmt.Errorf("idempotency: noting that the request takes effect: %w", done.Error)
	default:
		return fmt.Errorf("%w: %w", ErrTakenOver, middleware.NewRetryableProblem(http.StatusConflict, slugInUse, "the request took too long, and a repetition has taken its place"))
	}
}
