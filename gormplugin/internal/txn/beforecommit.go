package txn

import (
	"context"
	"errors"

	"github.com/pathlock-go/pathlock/internal/gincontext"
	"gorm.io/gorm"
)

// beforeCommit is the function of a context, which is called before the COMMIT of each transaction
// under it, after those of the contexts above it.
type beforeCommit struct {
	above *beforeCommit
	fn    func(tx *gorm.DB) error
}

// beforeCommitKey is the context key of the [beforeCommit].
type beforeCommitKey struct{}

// WithBeforeCommit returns a context under which fn is called before the COMMIT of each transaction
// that is begun.
func WithBeforeCommit(ctx context.Context, fn func(tx *gorm.DB) error) context.Context {
	return context.WithValue(ctx, beforeCommitKey{}, &beforeCommit{beforeCommitOf(ctx), fn})
}

// beforeCommitOf returns the function of a context, nil if it has none.
func beforeCommitOf(ctx context.Context) *beforeCommit {
	b, _ := gincontext.Lookup(ctx, beforeCommitKey{}).(*beforeCommit)
	return b
}

// run calls the functions, the outermost first.
func (b *beforeCommit) run(tx *gorm.DB) error {
	if b == nil {
		return nil
	}
	if err := b.above.run(tx); err != nil {
		return err
	}
	return b.fn(tx)
}

// How far the calls of the functions before the COMMIT have got.
const (
	unprepared uint32 = iota
	preparing
	prepared
)

// errCommitting is the error of a COMMIT that comes from a function before the COMMIT, or
// meanwhile.
var errCommitting = errors.New("gormplugin: functions of WithBeforeCommit are running: the transaction commits after them")

// prepare calls, once, the functions of the context, unless nothing was written. An error of a
// function rolls the transaction back, and so does a panic. prepare itself fails only while the
// functions are running.
func (h *Handle) prepare() error {
	h.closeRows()
	if h.before == nil || h.Failed() != nil || !h.wrote.Load() {
		return nil
	}
	if !h.preparation.CompareAndSwap(unprepared, preparing) {
		if h.preparation.Load() == preparing {
			return errCommitting
		}
		return nil
	}
	done := false
	defer func() {
		h.preparation.Store(prepared)
		if !done {
			_ = h.Rollback()
		}
	}()
	// Transactions that the functions begin under the context of tx call nothing: they would call
	// each other without end.
	ctx := context.WithValue(h.ctx, beforeCommitKey{}, (*beforeCommit)(nil))
	session := h.guard.DB.Session(&gorm.Session{NewDB: true, Context: ctx})
	session.Statement.ConnPool = h
	if err := h.before.run(session); err != nil {
		h.Fail(err)
	}
	done = true
	return nil
}
