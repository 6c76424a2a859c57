package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pathlock-go/pathlock"
)

// pause is how long to wait before a request is sent again that was answered by an error at once.
const pause = 50 * time.Millisecond

// ask sends a request until it is answered, for up to nine tenths of the time of [WithTimeout]: the
// call ends a little later, and says why. The request may be carried out more than once, and after
// ask has failed. what says what is being done.
//
// The error matches the request's error if that is an answer. Otherwise it matches
// pathlock.ErrUnavailable, and ctx.Err() too if ctx has ended.
func (b *backend) ask(ctx context.Context, what string, request func(context.Context) error) error {
	if b.ctx.Err() != nil {
		return closed(what)
	}
	last := time.Now().Add(b.config.timeout * 9 / 10)
	for n := 0; ; n++ {
		attempt, cancel := context.WithTimeout(ctx, min(b.config.patience(n), time.Until(last)))
		unlink := context.AfterFunc(b.ctx, cancel)
		err := request(attempt)
		unlink()
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%w: etcdstore: %s: %w", pathlock.ErrUnavailable, what, ctx.Err())
		case b.ctx.Err() != nil:
			return closed(what)
		case isAnswer(err):
			return fmt.Errorf("etcdstore: %s: %w", what, err)
		case !isPassing(err) || time.Until(last) <= pause:
			return fmt.Errorf("%w: etcdstore: %s: %w", pathlock.ErrUnavailable, what, err)
		}
		if err := b.sleep(ctx, pause); err != nil {
			return fmt.Errorf("%w: etcdstore: %s: %w", pathlock.ErrUnavailable, what, err)
		}
	}
}

// sleep waits, unless ctx ends first or the store is closed.
func (b *backend) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.ctx.Done():
		return pathlock.ErrClosed
	}
}

// closed is the error of what a store cannot do any more.
func closed(what string) error {
	return fmt.Errorf("%w: %w: etcdstore: %s", pathlock.ErrUnavailable, pathlock.ErrClosed, what)
}

// unavailable returns an error of ask for callers to whom no answer makes sense.
func unavailable(err error) error {
	if err == nil || errors.Is(err, pathlock.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", pathlock.ErrUnavailable, err)
}

// answers are the errors that are about the request, and not about the server. Nothing has been
// carried out.
var answers = []error{
	rpctypes.ErrLeaseNotFound, rpctypes.ErrTooManyOps, rpctypes.ErrRequestTooLarge,
	rpctypes.ErrCompacted, rpctypes.ErrLeaseTTLTooLarge,
}

// isAnswer reports whether an error is about the request.
func isAnswer(err error) bool {
	err = rpctypes.Error(err)
	for _, answer := range answers {
		if errors.Is(err, answer) {
			return true
		}
	}
	return isTooLarge(err)
}

// isTooLarge reports whether the client or the server has refused a message for its size.
func isTooLarge(err error) bool {
	if errors.Is(err, rpctypes.ErrRequestTooLarge) {
		return true
	}
	// The client has no error of its own for this, and etcd itself has other reasons.
	var etcd rpctypes.EtcdError
	return status.Code(err) == codes.ResourceExhausted && !errors.As(rpctypes.Error(err), &etcd)
}

// isPassing reports whether the same request may be answered later.
func isPassing(err error) bool {
	for _, passing := range []error{rpctypes.ErrTooManyRequests, rpctypes.ErrAuthOldRevision, rpctypes.ErrInvalidAuthToken} {
		if errors.Is(rpctypes.Error(err), passing) {
			return true
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return true
	}
	var etcd rpctypes.EtcdError
	code := status.Code(err)
	if errors.As(err, &etcd) {
		code = etcd.Code()
	}
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Aborted, codes.Unknown:
		return true
	default:
		return false
	}
}
