package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// lookTimeout is how long the lock store may take to answer a look.
	lookTimeout = 5 * time.Second
	// idlePolls is for how many looks a feed goes on that nobody reads, so that a page which polls
	// finds it again.
	idlePolls = 5
)

// feedKey names a feed: that of a tree, or that of the overview, which has the zero tree.
type feedKey = pathlock.Tree

// look returns a new view, and whether it shows the same as the one before but for the time.
type look func(ctx context.Context, before any) (view any, same bool, err error)

// feed looks at something again and again while somebody wants to know, and has its latest state.
type feed struct {
	key   feedKey
	every time.Duration
	look  look
	hurry chan struct{}

	mu      sync.Mutex
	readers int
	read    time.Time // when somebody last came or went
	state   state
	// changed is closed with the next change of the state.
	changed chan struct{}
}

// state is what a feed knows.
type state struct {
	// number grows with every change.
	number int
	// view is the latest look's, nil before it, and before the one that it replaced. Both are of
	// the same type.
	view, before any
	// trouble is why nothing is known since then, nil if all is well.
	trouble *problem
	since   time.Time
}

// join returns the feed of a key, and begins it if there is none. The caller leaves it later.
func (p *Page) join(key feedKey) (*feed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feeds[key]
	if f == nil {
		switch {
		case p.ctx.Err() != nil:
			return nil, closing()
		case len(p.feeds) > p.config.MaxViewers && !key.IsZero() && !p.makeRoom():
			return nil, tooMany()
		}
		f = &feed{key: key, every: p.config.Poll, look: p.lookAtTree(key), hurry: make(chan struct{}, 1), changed: make(chan struct{})}
		if key.IsZero() {
			f.every, f.look = 2*p.config.Poll, p.lookAtTrees
		}
		p.feeds[key] = f
		p.running.Go(func() { p.keep(f) })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers++
	f.read = time.Now()
	return f, nil
}

// makeRoom forgets the feed that nobody has read for the longest time, and reports whether there is
// one. The overview's stays. The caller has locked p.mu.
func (p *Page) makeRoom() bool {
	var idle *feed
	var since time.Time
	for key, f := range p.feeds {
		f.mu.Lock()
		if f.readers == 0 && !key.IsZero() && (idle == nil || f.read.Before(since)) {
			idle, since = f, f.read
		}
		f.mu.Unlock()
	}
	if idle == nil {
		return false
	}
	delete(p.feeds, idle.key)
	idle.wake()
	return true
}

// wake makes a feed look at once.
func (f *feed) wake() {
	select {
	case f.hurry <- struct{}{}:
	default:
	}
}

// leave undoes join.
func (f *feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
	f.read = time.Now()
}

// tooMany is the answer when no more can watch.
func tooMany() *problem {
	p := newProblem(http.StatusServiceUnavailable, "too-many-viewers", "too many watch at once; try again later")
	p.retryAfter = 10
	return p
}

// keep looks until nobody reads the feed any more, or the page is closed.
func (p *Page) keep(f *feed) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-f.hurry:
		case <-timer.C:
		}
		if p.dropIfIdle(f) {
			return
		}
		if err := f.update(p.ctx, p.config.Now); err != nil && p.ctx.Err() == nil {
			p.report(f.key, err)
		}
		timer.Reset(f.every)
	}
}

// dropIfIdle forgets a feed that nobody reads, and reports whether it is forgotten.
func (p *Page) dropIfIdle(f *feed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.feeds[f.key] != f {
		return true // another one needed its room
	}
	if f.readers > 0 || time.Since(f.read) < idlePolls*f.every {
		return false
	}
	delete(p.feeds, f.key)
	return true
}

// update looks once, and tells the readers if anything has changed. The error is why the look
// failed, the first time in a row.
func (f *feed) update(ctx context.Context, now func() time.Time) error {
	ctx, stop := context.WithTimeout(ctx, lookTimeout)
	defer stop()
	before := f.current().view
	view, same, err := f.look.safely(ctx, before)
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.state
	switch {
	case err != nil && f.state.trouble != nil:
		return nil
	case err != nil:
		next.trouble, next.since = problemOf(err), now()
	case f.state.trouble == nil && same:
		f.state.view = view
		return nil
	default:
		next.trouble, next.before, next.view = nil, before, view
	}
	next.number++
	f.state = next
	close(f.changed)
	f.changed = make(chan struct{})
	return err
}

// safely looks. A look that panics has failed.
func (l look) safely(ctx context.Context, before any) (view any, same bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicked{cause, debug.Stack()}
		}
	}()
	return l(ctx, before)
}

// panicked is the error of a look that panicked.
type panicked struct {
	cause any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("admin: the look panicked: %v", p.cause) }

// report logs why nothing is known of a tree.
func (p *Page) report(key feedKey, err error) {
	attrs := []slog.Attr{slog.Any("error", err)}
	if !key.IsZero() {
		attrs = append(attrs, slog.String("tree", key.String()))
	}
	if panicked, ok := errors.AsType[*panicked](err); ok {
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	p.config.Log.LogAttrs(p.ctx, slog.LevelWarn, "pathlock admin: a look at the locks failed", attrs...)
}

func (f *feed) current() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// next returns the state, and a channel that is closed when there is another.
func (f *feed) next() (state, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.changed
}

// closing is the answer of a page that has been closed.
func closing() *problem {
	return newProblem(http.StatusServiceUnavailable, "closed", "this instance is stopping")
}

// first returns what the feed knows. It waits for the first look.
func (f *feed) first(ctx context.Context, closed <-chan struct{}) (any, error) {
	for {
		s, changed := f.next()
		switch {
		case s.trouble != nil:
			return nil, s.trouble
		case s.view != nil:
			return s.view, nil
		}
		select {
		case <-changed:
		case <-closed:
			return nil, closing()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// nudge makes a tree's feed look at once, if there is one.
func (p *Page) nudge(tree pathlock.Tree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range []feedKey{tree, {}} {
		if f := p.feeds[key]; f != nil {
			f.wake()
		}
	}
}

// lookAtTree returns how to look at a tree.
func (p *Page) lookAtTree(tree pathlock.Tree) look {
	return func(ctx context.Context, before any) (any, bool, error) {
		s, err := p.locks.Snapshot(ctx, tree)
		if err != nil {
			return nil, false, err
		}
		s.Tree = tree
		at := p.config.Now()
		last, _ := before.(*treeView)
		if last != nil && reflect.DeepEqual(s, last.snapshot) {
			later := *last
			later.at = at
			return &later, true, nil
		}
		v := p.view(s, at)
		return v, last != nil && v.version == last.version, nil
	}
}
