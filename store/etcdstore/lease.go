package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
)

// lease is an etcd lease that this process has asked for, or has asked about. While it lives, the
// tickets attached to it do.
type lease struct {
	id  clientv3.LeaseID
	ttl time.Duration

	mu sync.Mutex
	// until is the moment, by this process's clock, before which etcd does not end the lease.
	until time.Time
	// gone says that etcd has ended the lease.
	gone bool
	// renewal is the renewal that is under way, nil if there is none.
	renewal *renewal
}

// renewal is a request to renew a lease that any number of updates wait for.
type renewal struct {
	done chan struct{}
	// asked is when it was asked for. It is valid when done is closed, as err is.
	asked time.Time
	err   error
}

// lives reports whether the lease is known to live at a moment.
func (l *lease) lives(at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.gone && at.Before(l.until)
}

// end returns the moment before which etcd does not end the lease.
func (l *lease) end() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// leases are the etcd leases of a process: one for each length of its tickets' leases, in seconds,
// and one for each detached hold. Nothing renews them by itself: an update does, if a ticket that
// it writes is to live for longer.
//
//	ticket ─┐
//	ticket ─┼─▶ etcd lease of 33 s, for tickets of 30 s      ends when the process stops renewing
//	ticket ─┘
//	detached hold ─▶ etcd lease of its own                   ends when nobody refreshes the hold
type leases struct {
	b *backend

	mu sync.Mutex
	// shared are the leases of the process's own tickets, by their length.
	shared map[time.Duration]*lease
	// making are the shared leases that are being asked for.
	making map[time.Duration]chan struct{}
	// detached are the leases of detached holds that this process has made or has looked at.
	detached map[clientv3.LeaseID]*lease
}

func newLeases(b *backend) *leases {
	return &leases{
		b:        b,
		shared:   map[time.Duration]*lease{},
		making:   map[time.Duration]chan struct{}{},
		detached: map[clientv3.LeaseID]*lease{},
	}
}

// sharedLength returns how long the etcd lease is to last that a ticket with a lease of d shares. A
// tenth more than d lets one renewal serve all tickets that are written in that time.
func sharedLength(d time.Duration) time.Duration {
	whole := wholeSeconds(d)
	return whole + min(whole/10, 5*time.Second).Truncate(time.Second)
}

// wholeSeconds rounds up to what etcd can count.
func wholeSeconds(d time.Duration) time.Duration {
	d = min(d, pathlock.Forever)
	whole := d.Truncate(time.Second)
	if whole < d {
		whole += time.Second
	}
	return max(whole, time.Second)
}

// ofProcess returns the etcd lease for tickets of this process with a lease of d.
func (ls *leases) ofProcess(ctx context.Context, d time.Duration) (*lease, error) {
	length := sharedLength(d)
	for {
		ls.mu.Lock()
		ls.forget(ls.b.clock.now())
		if l := ls.shared[length]; l != nil {
			ls.mu.Unlock()
			now := ls.b.clock.now()
			if l.lives(now.Add(ls.b.config.longest())) {
				return l, nil
			}
			// It may end before the tickets are attached.
			err := ls.renew(ctx, l, now.Add(l.ttl))
			if !errors.Is(err, rpctypes.ErrLeaseNotFound) {
				return l, err
			}
			ls.drop(l.id)
			continue
		}
		made := ls.making[length]
		if made == nil {
			made = make(chan struct{})
			ls.making[length] = made
			ls.mu.Unlock()
			l, err := ls.make(ctx, length)
			ls.mu.Lock()
			delete(ls.making, length)
			close(made)
			if err == nil {
				ls.shared[length] = l
			}
			ls.mu.Unlock()
			return l, err
		}
		ls.mu.Unlock()
		select {
		case <-made:
		case <-ctx.Done():
			return nil, fmt.Errorf("etcdstore: asking for a lease: %w", ctx.Err())
		}
	}
}

// ofHold makes an etcd lease for a detached hold with a lease of d.
func (ls *leases) ofHold(ctx context.Context, d time.Duration) (*lease, error) {
	l, err := ls.make(ctx, wholeSeconds(d))
	if err != nil {
		return nil, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.forget(ls.b.clock.now())
	ls.detached[l.id] = l
	return l, nil
}

// forget drops the leases that may have ended: nothing that this process relies on is attached to
// them.
func (ls *leases) forget(now time.Time) {
	for length, l := range ls.shared {
		if !l.lives(now) {
			delete(ls.shared, length)
		}
	}
	for id, l := range ls.detached {
		if !l.lives(now) {
			delete(ls.detached, id)
		}
	}
}

// make asks for an etcd lease.
func (ls *leases) make(ctx context.Context, length time.Duration) (*lease, error) {
	l := &lease{}
	err := ls.b.ask(ctx, "asking for a lease", func(ctx context.Context) error {
		asked := ls.b.clock.now()
		granted, err := ls.b.client.Grant(ctx, int64(length/time.Second))
		if err != nil {
			return err
		}
		l.id, l.ttl = granted.ID, time.Duration(granted.TTL)*time.Second
		l.until = asked.Add(l.ttl)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// renew returns when the lease is known to live until the given moment, or else for its whole
// length from now. The error matches rpctypes.ErrLeaseNotFound if it has ended.
func (ls *leases) renew(ctx context.Context, l *lease, until time.Time) error {
	for began := ls.b.clock.now(); ; {
		l.mu.Lock()
		if l.gone {
			l.mu.Unlock()
			return fmt.Errorf("etcdstore: renewing a lease: %w", rpctypes.ErrLeaseNotFound)
		}
		if !l.until.Before(until) {
			l.mu.Unlock()
			return nil
		}
		r := l.renewal
		if r == nil {
			r = &renewal{done: make(chan struct{})}
			if !ls.b.start(func() { ls.renewOnce(l, r) }) {
				l.mu.Unlock()
				return closed("renewing a lease")
			}
			l.renewal = r
		}
		l.mu.Unlock()
		select {
		case <-r.done:
			if r.err != nil || !r.asked.Before(began) {
				return r.err
			}
		case <-ctx.Done():
			return fmt.Errorf("etcdstore: renewing a lease: %w", ctx.Err())
		}
	}
}

// renewOnce carries out a renewal.
func (ls *leases) renewOnce(l *lease, r *renewal) {
	var asked time.Time
	var ttl time.Duration
	err := ls.b.ask(ls.b.ctx, "renewing a lease", func(ctx context.Context) error {
		asked = ls.b.clock.now()
		kept, err := ls.b.client.KeepAliveOnce(ctx, l.id)
		if err == nil {
			ttl = time.Duration(kept.TTL) * time.Second
		}
		return err
	})
	l.mu.Lock()
	switch until := asked.Add(ttl); {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		l.gone = true
	case err == nil && until.After(l.until):
		l.until = until
	}
	r.asked, r.err, l.renewal = asked, err, nil
	l.mu.Unlock()
	close(r.done)
}

// drop forgets a lease that etcd has ended, or that has nothing attached.
func (ls *leases) drop(id clientv3.LeaseID) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for length, l := range ls.shared {
		if l.id == id {
			delete(ls.shared, length)
		}
	}
	delete(ls.detached, id)
}

// revoke ends the lease of a detached hold that has nothing attached, if etcd answers at once.
// Otherwise it ends by itself.
func (ls *leases) revoke(id clientv3.LeaseID) {
	ls.drop(id)
	ls.b.start(func() {
		ctx, cancel := context.WithTimeout(ls.b.ctx, ls.b.config.longest())
		defer cancel()
		_, _ = ls.b.client.Revoke(ctx, id)
	})
}

// endOf returns a moment, by this process's clock, before which etcd does not end the lease of a
// detached hold. It asks etcd if this process does not know, or if that moment has passed: somebody
// else may have renewed the lease. etcd answers in whole seconds, rounded down.
//
// It also returns the lease's length.
func (ls *leases) endOf(ctx context.Context, id clientv3.LeaseID) (end time.Time, length time.Duration, err error) {
	ls.mu.Lock()
	l := ls.detached[id]
	ls.mu.Unlock()
	if l != nil && l.lives(ls.b.clock.now()) {
		return l.end(), l.ttl, nil
	}
	var asked time.Time
	var left *clientv3.LeaseTimeToLiveResponse
	err = ls.b.ask(ctx, "asking for the end of a lease", func(ctx context.Context) error {
		asked = ls.b.clock.now()
		var err error
		left, err = ls.b.client.TimeToLive(ctx, id)
		return err
	})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) || err == nil && left.TTL < 0 {
		return asked.Add(-etcdPrecision), 0, nil // not even by how exactly ends are known
	}
	if err != nil {
		return time.Time{}, 0, unavailable(err)
	}
	end = asked.Add(time.Duration(left.TTL) * time.Second)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l = &lease{id: id, ttl: time.Duration(left.GrantedTTL) * time.Second, until: end}
	ls.detached[id] = l
	return end, l.ttl, nil
}

// known returns the lease of a detached hold if this process may renew it instead of making a new
// one: it lasts as long as a new one for d would.
func (ls *leases) known(id clientv3.LeaseID, d time.Duration) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.detached[id]; l != nil && l.ttl == wholeSeconds(d) {
		return l
	}
	return nil
}

// unused returns the shared leases that nothing is attached to.
func (ls *leases) unused(ctx context.Context) []clientv3.LeaseID {
	ls.mu.Lock()
	shared := slices.Collect(maps.Values(ls.shared))
	ls.mu.Unlock()
	var unused []clientv3.LeaseID
	for _, l := range shared {
		left, err := ls.b.client.TimeToLive(ctx, l.id, clientv3.WithAttachedKeys())
		if err == nil && len(left.Keys) == 0 {
			unused = append(unused, l.id)
		}
	}
	return unused
}
