package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// drainPause is how long ObtainGate waits between two looks where the options have no retry
// strategy.
const drainPause = 50 * time.Millisecond

// ObtainGate takes the gate of a tree for a program that has no [pathlock.Locker], such as a
// nightly job: it obtains [GateKey] with redislock, which stops the node locks of new owners, and
// then waits until the present owners have come to their end. The caller refreshes and releases the
// lock as any other of redislock's.
//
// options may be nil. Its retry strategy serves for both waits. The ttl bounds neither, since it is
// refreshed meanwhile: bound ctx. If the gate could not be had, or the owners did not end in time,
// the key is released and the error matches redislock.ErrNotObtained.
//
// A program in another language does the same with SET key value NX PX ttl on the gate's key, and
// then asks HEXISTS of the tree's key locks (the gate's key with "locks" in place of "gate" at the
// end) with the field "gate-node" until the answer is 0. An owner who holds something at that time
// may still take more, so that it can come to its end.
func ObtainGate(ctx context.Context, client redis.UniversalClient, tree pathlock.Tree, ttl time.Duration, options *redislock.Options, opts ...Option) (*redislock.Lock, error) {
	k := newKeys(newConfig(opts).prefix)
	lock, err := redislock.Obtain(ctx, client, k.gate(tree), ttl, options)
	if err != nil {
		return nil, fmt.Errorf("redisstore: obtaining the gate of %s: %w", tree, notInTime(ctx, err))
	}
	if err := drain(ctx, client, k, tree, lock, ttl, options); err != nil {
		err = fmt.Errorf("redisstore: waiting for the holders in %s: %w", tree, notInTime(ctx, err))
		if releaseErr := lock.Release(context.WithoutCancel(ctx)); releaseErr != nil {
			err = errors.Join(err, releaseErr)
		}
		return nil, err
	}
	return lock, nil
}

// drain waits until nobody holds anything in a tree, and keeps the lock alive meanwhile.
func drain(ctx context.Context, client redis.UniversalClient, k keys, tree pathlock.Tree, lock *redislock.Lock, ttl time.Duration, options *redislock.Options) error {
	strategy := redislock.LinearBackoff(drainPause)
	if options != nil && options.RetryStrategy != nil {
		strategy = options.RetryStrategy
	}
	for {
		held, err := inUse(ctx, client, k, tree)
		if err != nil {
			return err
		}
		if err := lock.Refresh(ctx, ttl, nil); err != nil {
			return err
		}
		if !held {
			return nil
		}
		pause := strategy.NextBackoff()
		if pause <= 0 {
			return redislock.ErrNotObtained
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// notInTime adds to an error that ctx has ended, in a pause or in a call.
func notInTime(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, redislock.ErrNotObtained) {
		return err
	}
	return errors.Join(redislock.ErrNotObtained, err)
}

// inUse reports whether anybody holds anything in a tree. A client that reads from replicas would
// see those of a while ago.
func inUse(ctx context.Context, client redis.UniversalClient, k keys, tree pathlock.Tree) (bool, error) {
	node, err := primary(ctx, client, k.locks(tree))
	if err != nil {
		return false, err
	}
	return node.HExists(ctx, k.locks(tree), gateNode).Result()
}
