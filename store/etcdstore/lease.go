package etcdstore

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
)

// leases are etcd leases of this process, to which it attaches tickets. Each has one length, and
// nobody renews it: an update that prolongs tickets attaches them to a later one. So etcd removes a
// ticket soon after the end of its lease, whatever happens to its process, unless the process has
// given the ticket a new lease.
//
//	ticket ─┐
//	ticket ─┼─▶ etcd lease of 33 s, for tickets of 30 s, of the first 3 s
//	ticket ─┘
//	ticket ───▶ the next one
type leases struct {
	mu     sync.Mutex
	latest map[time.Duration]lease
}

// lease is an etcd lease.
type lease struct {
	id clientv3.LeaseID
	// end is a moment, by this process's clock, before which etcd does not end the lease.
	end time.Time
}

// leaseUntil returns an etcd lease that ends no earlier than a moment, and hardly later.
func (b *backend) leaseUntil(ctx context.Context, until time.Time) (lease, error) {
	ls := &b.leases
	length := etcdLength(until.Sub(b.clock.now()))
	ls.mu.Lock()
	l, ok := ls.latest[length]
	ls.mu.Unlock()
	if ok && !l.end.Before(until) {
		return l, nil
	}
	err := b.ask(ctx, "asking for a lease", func(ctx context.Context) error {
		asked := b.clock.now()
		granted, err := b.client.Grant(ctx, int64(length/time.Second))
		if err == nil {
			l = lease{granted.ID, asked.Add(time.Duration(granted.TTL) * time.Second)}
		}
		return err
	})
	if err != nil {
		return lease{}, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for length, l := range ls.latest {
		if l.end.Before(b.clock.now()) {
			delete(ls.latest, length)
		}
	}
	ls.latest[length] = l
	return l, nil
}

// etcdLength returns how long an etcd lease is to last for tickets with a lease of d: whole
// seconds, and a tenth more, so that it serves all tickets that are written in that time.
func etcdLength(d time.Duration) time.Duration {
	whole := min(d, pathlock.Forever).Truncate(time.Second) + time.Second
	return whole + max(time.Second, min(whole/10, 5*time.Second).Truncate(time.Second))
}

// forget makes sure that no further tickets are attached to a lease that etcd has ended.
func (ls *leases) forget() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	clear(ls.latest)
}

// left returns how long etcd still keeps a lease, 0 if it has ended.
func (b *backend) left(ctx context.Context, id clientv3.LeaseID) (time.Duration, error) {
	var left time.Duration
	err := b.ask(ctx, "asking for the end of a lease", func(ctx context.Context) error {
		answer, err := b.client.TimeToLive(ctx, id)
		if err == nil {
			left = max(0, time.Duration(answer.TTL)*time.Second)
		}
		return err
	})
	return left, err
}

// clock is a process's own clock, in microseconds, as tickets have them. It begins with the time of
// day and goes on evenly, whatever is done to the time of day meanwhile.
type clock struct {
	began  time.Time // with a monotonic reading
	origin time.Time // the same without
}

func newClock() clock {
	now := time.Now()
	return clock{began: now, origin: time.UnixMicro(now.UnixMicro())}
}

func (c clock) now() time.Time { return c.origin.Add(time.Since(c.began).Truncate(time.Microsecond)) }
