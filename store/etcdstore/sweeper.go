package etcdstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
)

const (
	// sweepAgain is how long the sweeper leaves a tree alone after it could not sweep it.
	sweepAgain = time.Second
	// settleAfter is how long a guard that is ahead may stay: most trees are used again, or the
	// revision catches up.
	settleAfter = time.Second
)

// sweeper ends the tickets of this process whose leases have ended. etcd does not, as long as the
// process renews their etcd lease for the sake of others. Updates of the tree by this process do
// it, too, but there may be none.
type sweeper struct {
	mu sync.Mutex
	// ends are when the first of this process's tickets ends, by tree.
	ends map[pathlock.Tree]time.Time
	// ahead are when to look at guards that are left in empty trees.
	ahead map[pathlock.Tree]time.Time
	// changed has a value when an end has been set.
	changed chan struct{}
	clock   clock
}

func newSweeper(c clock) *sweeper {
	return &sweeper{
		ends: map[pathlock.Tree]time.Time{}, ahead: map[pathlock.Tree]time.Time{},
		changed: make(chan struct{}, 1), clock: c,
	}
}

// track sets when the first of this process's tickets in a tree ends, or the zero time if it has
// none.
func (s *sweeper) track(tree pathlock.Tree, end time.Time) {
	s.mu.Lock()
	if end.IsZero() {
		delete(s.ends, tree)
	} else {
		s.ends[tree] = end
		delete(s.ahead, tree)
	}
	s.mu.Unlock()
	s.notify()
}

// trackAgain is track, unless an update has done it since the sweeper took the tree up.
func (s *sweeper) trackAgain(tree pathlock.Tree, end time.Time) {
	s.mu.Lock()
	if _, tracked := s.ends[tree]; !tracked && !end.IsZero() {
		s.ends[tree] = end
	}
	s.mu.Unlock()
	s.notify()
}

// postpone has the sweeper leave a tree alone for a while if it is still due.
func (s *sweeper) postpone(tree pathlock.Tree, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end, tracked := s.ends[tree]; tracked && !end.After(now) {
		s.ends[tree] = now.Add(sweepAgain)
	}
}

// settle has the sweeper look at the guard of an empty tree.
func (s *sweeper) settle(tree pathlock.Tree) {
	s.mu.Lock()
	s.ahead[tree] = s.clock.now().Add(settleAfter)
	s.mu.Unlock()
	s.notify()
}

func (s *sweeper) notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// due returns the trees to sweep and to settle, and when the next ones are due, which is zero if
// there are none.
func (s *sweeper) due(now time.Time) (sweep, settle []pathlock.Tree, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	take := func(from map[pathlock.Tree]time.Time) (due []pathlock.Tree) {
		for tree, at := range from {
			switch {
			case !at.After(now):
				due = append(due, tree)
				delete(from, tree)
			case next.IsZero() || at.Before(next):
				next = at
			}
		}
		return due
	}
	return take(s.ends), take(s.ahead), next
}

// unsettled returns the trees whose guards are left.
func (s *sweeper) unsettled() []pathlock.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.ahead))
}

// ownEnd returns when the first of this process's tickets ends, or zero.
func (b *backend) ownEnd(records []*record) (end time.Time) {
	for _, rec := range records {
		if at := rec.stored.Ends(); b.isOwn(rec) && (end.IsZero() || at.Before(end)) {
			end = at
		}
	}
	return end
}

// isOwn reports whether a ticket's times are this process's, and it is this process that ends it.
func (b *backend) isOwn(rec *record) bool { return b.isHome(rec.stored) && !isHold(rec.stored) }

// sweep runs the sweeper until the store is closed.
func (b *backend) sweep() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		sweep, settle, next := b.sweeper.due(b.clock.now())
		for _, tree := range sweep {
			if err := b.sweepTree(b.ctx, tree); err != nil {
				b.sweeper.trackAgain(tree, b.clock.now().Add(sweepAgain))
			}
		}
		for _, tree := range settle {
			// What fails here leaves a small key until the tree is used again.
			_ = b.settleTree(b.ctx, tree)
		}
		if len(sweep)+len(settle) > 0 {
			continue
		}
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(next.Sub(b.clock.now()))
		}
		select {
		case <-timer.C:
		case <-b.sweeper.changed:
		case <-b.ctx.Done():
			return
		}
	}
}

// sweepTree has this process's tickets end that have ended, as an update of the tree does: it tells
// the owners' other requests, and lets in those who waited.
func (b *backend) sweepTree(ctx context.Context, tree pathlock.Tree) error {
	r, err := b.read(ctx, tree, nil)
	if err != nil {
		return err
	}
	end := b.ownEnd(r.records)
	if end.IsZero() || end.After(b.clock.now()) {
		b.sweeper.trackAgain(tree, end)
		return nil
	}
	if err := b.expire(ctx, tree); err != nil {
		return err
	}
	b.sweeper.postpone(tree, b.clock.now())
	return nil
}

// settleTree deletes the guard of a tree that has no tickets. Its fence has to be behind the
// revision: writing the guard again brings the revision on.
func (b *backend) settleTree(ctx context.Context, tree pathlock.Tree) error {
	key := b.keys.guard(tree)
	for {
		r, err := b.read(ctx, tree, nil)
		if err != nil || r.guarded == 0 || len(r.records) > 0 {
			return err
		}
		text, err := r.guard.encode()
		if err != nil {
			return err
		}
		write := clientv3.OpPut(key, text)
		if r.guard.Fence <= uint64(r.revision) {
			write = clientv3.OpDelete(key)
		}
		same := clientv3.Compare(clientv3.ModRevision(key), "=", r.guarded)
		err = b.ask(ctx, fmt.Sprintf("clearing up %s", tree), func(ctx context.Context) error {
			_, err := b.client.Txn(ctx).If(same).Then(write).Commit()
			return err
		})
		if err != nil {
			return err
		}
	}
}
