package pathlock

import (
	"context"
	"time"
)

// Detach ends the lock here and keeps what it holds in the store: from then on the hold belongs to nobody's
// process, is renewed by nobody, and lives until its lease ends, which is as long from now as the request said (see
// [Request.Lease]). The token names it in any process: [Locker.Attach] makes it a lock again, [Locker.Refresh] sets another end,
// [Locker.ReleaseToken] releases it. [Lock.Until] tells when it ends.
//
// A lock that Attach has returned keeps its token, and the end that the lease has by then.
//
// It does its work even under a context that has ended, within five seconds. The lock must be all that its scope holds, and asks for, in its
// tree; otherwise the error matches [ErrInvalidRequest], and the lock stays as it is. It matches [ErrNotHeld] when the lock has been
// released, [ErrLost] when it has been lost, and [ErrUnavailable] when the store did not answer: then the lock has to be
// released all the same. Where the store is no [TransferStore], it matches [errors.ErrUnsupported].
func (k *Lock) Detach() (Token, error) { panic("not yet") }

// Until returns the end of the lock's lease, as far as it is known here: the store's lease ends no
// earlier. It moves with every renewal.
func (k *Lock) Until() time.Time { panic("not yet") }

// AttachOption changes what [Locker.Attach] does.
type AttachOption func(*attaching)

// WithoutRenewal leaves the hold the end that it has. What is acquired under the lock's context lives no longer than that.
func WithoutRenewal() AttachOption { return func(a *attaching) { a.unrenewed = true } }

// attaching is how a token is to be attached.
type attaching struct {
	unrenewed bool
}

// Attach makes the hold that a token names a lock again, in this process, which renews it from then on as it does
// any other, unless [WithoutRenewal] says that it must not. An acquisition under its context re-enters.
//
// Any number may attach a token at once: they are one owner, and don't wait for each other. The first to release the lock
// ends it for all; who only wants to have used it lets go by [Lock.Detach], which keeps the token and the hold.
//
// The error matches [ErrInvalidToken], [ErrLost] if the hold has ended, or [ErrUnavailable].
func (l *Locker) Attach(ctx context.Context, token Token, opts ...AttachOption) (*Lock, error) {
	panic("not yet")
}

// Refresh has the hold that a token names end after d from now, also earlier than it would have, and returns when that is. Where
// somebody has it attached with renewal, it lives on until that lock is released. Errors are those of [Locker.Attach],
// and match [ErrInvalidRequest] if d is shorter than [MinLease].
func (l *Locker) Refresh(ctx context.Context, token Token, d time.Duration) (until time.Time, err error) {
	panic("not yet")
}

// ReleaseToken releases the hold that a token names, in whatever process it is attached. Errors are those of [Locker.Attach].
func (l *Locker) ReleaseToken(ctx context.Context, token Token) error { panic("not yet") }
