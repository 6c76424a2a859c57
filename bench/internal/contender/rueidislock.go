package contender

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/pathlock-go/pathlock"
)

// rueidislockOne is rueidislock with one key per lock, as suits one server (its default is three),
// and with the option that its documentation recommends for Redis 7.0.5 and newer. A command may
// take a second instead of 20 ms. Otherwise, it would give up and start over on a busy machine.
func rueidislockOne() Contender {
	return Contender{
		Name: Rueidislock, Module: "github.com/redis/rueidis", Excludes: true, Shares: true,
		What: "rueidislock: one key, the leaf's; woken by client-side caching",
		Open: func(_ context.Context, at Server) (Locks, error) {
			o, err := rueidis.ParseURL(at.URL)
			if err != nil {
				return nil, fmt.Errorf("not the URL of a Redis: %w", err)
			}
			locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
				ClientOption: o, KeyPrefix: at.Prefix, KeyMajority: 1, KeyValidity: lease, TryNextAfter: time.Second, NoLoopTracking: true,
			})
			if err != nil {
				return nil, fmt.Errorf("connecting rueidislock: %w", err)
			}
			return &rueidisLocks{locker}, nil
		},
	}
}

type rueidisLocks struct{ locker rueidislock.Locker }

func (l *rueidisLocks) Lock(tree string, leaf pathlock.Path) (Lock, error) {
	return &rueidisLock{locker: l.locker, name: "{" + tree + "}" + leaf.String()}, nil
}

func (l *rueidisLocks) Close() error {
	l.locker.Close()
	return nil
}

type rueidisLock struct {
	locker rueidislock.Locker
	name   string
	// release returns when the key has been deleted.
	release context.CancelFunc
}

func (l *rueidisLock) Acquire(ctx context.Context) error {
	return l.keep(l.locker.TryWithContext(ctx, l.name))
}

// Wait asks again if nothing has woken it for a second. In v1.0.79, a failed attempt may forget
// that it waits: its goroutine reads the count of failures before the count has been raised, and
// drops the entry by which invalidations find the waiter. The deletion of the key then wakes
// nobody. It takes two CPUs in one process, and is rare.
func (l *rueidisLock) Wait(ctx context.Context) error {
	const patience = time.Second
	for {
		attempt, cancel := context.WithCancel(ctx)
		impatient := time.AfterFunc(patience, cancel)
		err := l.keep(l.locker.WithContext(attempt, l.name))
		if impatient.Stop() && err == nil {
			// The lock lives as long as the context.
			release := l.release
			l.release = func() { release(); cancel() }
			return nil
		}
		if err == nil {
			l.release() // granted at the very end of the attempt, which takes the lock away again
		}
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
}

func (l *rueidisLock) keep(_ context.Context, release context.CancelFunc, err error) error {
	l.release = release
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return errors.Join(ErrHeld, err)
	}
	return err
}

func (l *rueidisLock) Release(context.Context) error {
	l.release()
	return nil
}
