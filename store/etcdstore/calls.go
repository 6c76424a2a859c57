package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pause is how long to wait before a request that failed at once is sent again.
const pause = 50 * time.Millisecond

// ask sends a request until it is answered, for up to nine tenths of the time of [WithTimeout]: the
// call ends a little later, and says why. etcd may execute the request more than once, and even
// after ask has failed. what describes the request for errors.
func (b *backend) ask(ctx context.Context, what string, request func(context.Context) error) error {
	n, longest := 0, b.config.timeout*9/10
	last := time.Now().Add(longest)
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		attempt, cancel := context.WithTimeout(ctx, min(b.config.patience(n), time.Until(last)))
		defer cancel()
		n++
		err := request(attempt)
		if err != nil && !isPassing(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(pause)), backoff.WithMaxElapsedTime(longest))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return fmt.Errorf("%s: %w", what, b.why(ctx, err))
	}
}

// why returns the reason why there is no connection to any member, such as a refused certificate,
// if the client's own tries ran out of time. Otherwise it returns err.
func (b *backend) why(ctx context.Context, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	// The bare call fails at once, with what gRPC knows.
	_, failed := etcdserverpb.NewMaintenanceClient(b.client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
	if status.Code(failed) != codes.Unavailable {
		return err
	}
	return failed
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
