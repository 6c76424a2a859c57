package quorum

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// member is one of the stores, and what is known about it.
type member struct {
	store  pathlock.Store
	index  int
	name   string
	quorum *store

	mu sync.Mutex
	// silent is why the member is not asked at present, nil while it is. gone is closed then.
	silent error
	gone   chan struct{}
	// waiting is how many requests wait in its queue. While there are some, or while it is silent,
	// it is watched by a goroutine.
	waiting int
	watched bool
	// releases are what it has to give back when it answers again.
	releases map[key]struct{}
	// asked are the requests that it is asked to grant. While a question's grant must still be
	// given back, the request does not ask again: giving back would take away its new grant.
	asked map[key]struct{}
}

func newMember(s *store, index int, store pathlock.Store) *member {
	return &member{
		store: store, index: index, name: s.config.name(index), quorum: s,
		gone: make(chan struct{}), releases: make(map[key]struct{}), asked: make(map[key]struct{}),
	}
}

// whySilent returns the error for a member that is not asked, nil if it is.
func (m *member) whySilent() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silent
}

// isAsked reports whether a question of a request has not ended.
func (m *member) isAsked(k key) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, asked := m.asked[k]
	return asked
}

// ask notes that a question of a request begins, and returns what notes its end.
func (m *member) ask(k key) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[k] = struct{}{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.asked, k)
	}
}

// lost returns a channel that is closed when the member falls silent.
func (m *member) lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

// silence notes that the member is asked in the background alone, until it answers.
func (m *member) silence(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.silent != nil {
		return
	}
	m.silent = why
	close(m.gone)
	m.watch()
}

// queue notes that requests begin to wait in the member's queue, or stop.
func (m *member) queue(change int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting += change; m.waiting > 0 {
		m.watch()
	}
}

// watch starts the goroutine that looks after the member. It expects mu to be locked, and a call to
// be under way.
func (m *member) watch() {
	if !m.watched && m.quorum.life.Err() == nil {
		m.watched = true
		m.quorum.running.Go(m.look)
	}
}

// look keeps asking the member whether it serves, for as long as somebody waits in its queue, or
// until it serves again. Before it is asked for anything else, it is told of the releases that it
// has missed.
func (m *member) look() {
	ticks := time.NewTicker(max(m.quorum.config.timeout/2, time.Millisecond))
	defer ticks.Stop()
	for m.needsLook() {
		select {
		case <-ticks.C:
		case <-m.quorum.life.Done():
			return
		}
		ctx, cancel := m.quorum.bound(m.quorum.life)
		err := m.store.Ping(ctx)
		cancel()
		if err == nil {
			err = m.comeBack()
		}
		if err != nil {
			m.silence(err)
		}
	}
}

// needsLook reports whether the member has to be watched for longer.
func (m *member) needsLook() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = m.silent != nil || m.waiting > 0
	return m.watched
}

// comeBack repeats the releases that the member has missed. From then on, the member is asked like
// the others. The error is that of a release that could not be repeated.
func (m *member) comeBack() error {
	for {
		m.mu.Lock()
		missed := slices.Collect(maps.Keys(m.releases))
		if len(missed) == 0 && m.silent != nil {
			m.silent, m.gone = nil, make(chan struct{})
		}
		m.mu.Unlock()
		if len(missed) == 0 {
			return nil
		}
		for _, k := range missed {
			if err := m.giveBack(k); err != nil {
				return err
			}
			m.mu.Lock()
			delete(m.releases, k)
			m.mu.Unlock()
		}
	}
}

// mostReleases is how many releases are remembered for a member that has missed them. The rest end
// with their leases.
const mostReleases = 10_000

// giveBackLater remembers a release for a member that has missed it, until the member answers
// again. Until then, it is silent.
func (m *member) giveBackLater(k key, why error) {
	m.mu.Lock()
	if len(m.releases) < mostReleases {
		m.releases[k] = struct{}{}
	}
	m.mu.Unlock()
	m.silence(why)
}

// giveBackOrLater gives something back, now or when the member answers again.
func (m *member) giveBackOrLater(k key) {
	if why := m.whySilent(); why != nil {
		m.giveBackLater(k, why)
	} else if err := m.giveBack(k); err != nil {
		m.giveBackLater(k, err)
	}
}

// giveBack gives something back while nobody waits for the answer. Having nothing to give back is
// no error.
func (m *member) giveBack(k key) error {
	ctx, cancel := m.quorum.bound(m.quorum.life)
	defer cancel()
	if err := m.release(ctx, k); !errors.Is(err, pathlock.ErrNotHeld) {
		return err
	}
	return nil
}

// release gives back a grant, or all that an owner has.
func (m *member) release(ctx context.Context, k key) error {
	if k.grant == "" {
		return m.store.ForceRelease(ctx, k.tree, k.owner)
	}
	return m.store.Release(ctx, k.tree, k.owner, k.grant)
}
