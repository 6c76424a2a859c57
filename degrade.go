package pathlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Degradation says how [Degrade] goes on without a lock store.
type Degradation struct {
	// Limit is how long requests go on without the store after it first fails one. After that, they
	// are refused until the store answers. Defaults to 15 minutes.
	Limit time.Duration
	// Retry is how often one request still asks the store. If the store does not answer, that
	// request waits for the time-out. Defaults to a second.
	Retry time.Duration
	// Log gets a warning when the store fails, when it answers again, and when the limit is
	// reached. Defaults to [slog.Default].
	Log *slog.Logger
}

// Degrade wraps a store for programs that prefer aborted writes to refused ones while the store is
// away. An acquisition that [Request.Asserted] marks, and that fails with [ErrUnavailable], is then
// granted without the store, to any number of owners at once. So are those after it. Only one in
// each [Degradation.Retry] asks the store, and once the store answers it, all ask again. Each
// process decides by itself.
//
// Such a lock has [Lock.Degraded] set. It keeps nobody out and has no fence: [Lock.Fence] is 0. It
// stays degraded until its release, even if the store has granted the same nodes to others by then.
// Package gormplugin's assertion in each transaction keeps the tree right. Under such a lock,
// acquisitions without Asserted fail with [ErrUnavailable], and so does [Lock.Detach]. If one scope
// makes two acquisitions at once in a tree, and the store grants only one of them, the later one
// fails too.
//
// Everything else fails as before: acquisitions without Asserted, such as those of a [Mutex] or of
// package election, those of an owner that holds something from the store in the tree, and tokens.
// docs/stores.md says what is not promised meanwhile.
func Degrade(store Store, how Degradation) Store {
	how.Limit = cmp.Or(how.Limit, 15*time.Minute)
	how.Retry = cmp.Or(how.Retry, time.Second)
	how.Log = cmp.Or(how.Log, slog.Default())
	return &degradable{Store: store, how: how, granted: make(map[treeOwner][]GrantID)}
}

// Degraded returns when this process began to grant locks without the lock store (see [Degrade]),
// or the zero time if it has not. The store may be back already: the process notices at its next
// acquisition.
func (l *Locker) Degraded() time.Time {
	if d, ok := l.store.(*degradable); ok {
		return d.degraded()
	}
	return time.Time{}
}

// degradable is a store that requests can go on without.
type degradable struct {
	Store
	how Degradation

	mu sync.Mutex
	// since is when the store failed first, zero while it answers. next is when it is asked again,
	// and over is set once the limit has been reached.
	since, next time.Time
	over        bool
	// granted has the grants that were made without the store.
	granted map[treeOwner][]GrantID
}

// treeOwner is an owner in one tree.
type treeOwner struct {
	tree  Tree
	owner Owner
}

// errUnasserted refuses a request without an assertion, from an owner that the store does not know.
var errUnasserted = fmt.Errorf("%w: the locks were granted without it, and the request is not Asserted", ErrUnavailable)

// errHalfDegraded refuses a grant that would leave the store knowing only part of what an owner
// holds.
var errHalfDegraded = fmt.Errorf("%w: something else that the scope holds in the tree was granted without it, or this was", ErrUnavailable)

// Acquire implements [Store].
func (d *degradable) Acquire(ctx context.Context, a Acquisition) (Grant, error) {
	if d.holds(a.Tree, a.Owner) {
		// The store does not know the owner, and may be back.
		if !a.asserted {
			return Grant{}, errUnasserted
		}
		return d.grant(a), nil
	}
	degrades := a.asserted && !a.Held
	if degrades && d.skips() {
		return d.grant(a), nil
	}
	granted, err := d.Store.Acquire(ctx, a)
	if ctx.Err() == nil && d.note(ctx, err) && degrades {
		return d.grant(a), nil
	}
	return granted, err
}

// grant makes a grant without the store.
func (d *degradable) grant(a Acquisition) Grant {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := treeOwner{a.Tree, a.Owner}
	if !slices.Contains(d.granted[at], a.Grant) {
		d.granted[at] = append(d.granted[at], a.Grant)
	}
	return Grant{Asked: time.Now(), degraded: true}
}

// holds reports whether an owner holds anything without the store.
func (d *degradable) holds(tree Tree, owner Owner) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.granted[treeOwner{tree, owner}]) > 0
}

// skips reports whether a request is granted without asking the store.
func (d *degradable) skips() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.since.IsZero() || d.over || now.Sub(d.since) >= d.how.Limit {
		return false
	}
	if !now.Before(d.next) {
		d.next = now.Add(d.how.Retry)
		return false
	}
	return true
}

// note records the store's answer, and reports whether the store is away and requests go on without
// it. The error of a request that makes no sense says nothing about the store.
func (d *degradable) note(ctx context.Context, err error) bool {
	away := errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrClosed)
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	switch {
	case away && d.since.IsZero():
		d.since, d.next, d.over = now, now.Add(d.how.Retry), false
		d.how.Log.WarnContext(ctx, "pathlock: the lock store is away: requests go on with the assertion alone", "limit", d.how.Limit, "error", err)
	case away && !d.over && now.Sub(d.since) >= d.how.Limit:
		d.over = true
		d.how.Log.WarnContext(ctx, "pathlock: the lock store has been away for too long: requests are refused", "since", d.since, "error", err)
	case !d.since.IsZero() && (err == nil || errors.Is(err, ErrConflict)):
		d.how.Log.WarnContext(ctx, "pathlock: the lock store is back", "since", d.since)
		d.since = time.Time{}
	}
	return away && !d.over
}

// degraded returns the time since which requests go on without the store, zero if they do not.
func (d *degradable) degraded() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over || time.Since(d.since) >= d.how.Limit {
		return time.Time{}
	}
	return d.since
}

// Release implements [Store].
func (d *degradable) Release(ctx context.Context, tree Tree, owner Owner, id GrantID) error {
	d.mu.Lock()
	at := treeOwner{tree, owner}
	i := slices.Index(d.granted[at], id)
	if i >= 0 {
		if d.granted[at] = slices.Delete(d.granted[at], i, i+1); len(d.granted[at]) == 0 {
			delete(d.granted, at)
		}
	}
	d.mu.Unlock()
	if i >= 0 {
		return nil
	}
	return d.Store.Release(ctx, tree, owner, id)
}
