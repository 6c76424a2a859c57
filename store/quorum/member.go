package quorum

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// member is one of the stores, and what is known of it.
type member struct {
	store  pathlock.Store
	index  int
	name   string
	quorum *Store

	mu sync.Mutex
	// silent is why the member is not asked at present, nil while it is. gone is closed then.
	silent error
	gone   chan struct{}
	// waiting is how many requests wait in its queue. While there are some, or while it is silent,
	// it is watched by a goroutine.
	waiting int
	watched bool
	// releases are what it has to give back when it answers again, until when.
	releases map[key]time.Time
}

func newMember(s *Store, index int, store pathlock.Store) *member {
	return &member{
		store: store, index: index, name: s.config.name(index), quorum: s,
		gone: make(chan struct{}), releases: make(map[key]time.Time),
	}
}

// whySilent returns the error for a member that is not asked, nil if it is.
func (m *member) whySilent() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silent
}

// lost returns a channel that is closed when the member falls silent.
func (m *member) lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

// silence has the member asked in the background alone, until it answers.
func (m *member) silence(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fallSilent(why)
}

// fallSilent is silence. It expects mu to be locked.
func (m *member) fallSilent(why error) {
	if m.silent != nil {
		return
	}
	m.silent = why
	close(m.gone)
	m.watch()
}

// queue notes that requests begin to wait in the member's queue, or end to.
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

// mostMissed is how many times in a row a member in whose queue requests wait may fail to answer.
const mostMissed = 2

// look asks the member whether it serves for as long as somebody waits in its queue, or until it
// does again. Before it is asked for anything else, it is told of the releases that it has missed.
func (m *member) look() {
	timeout := m.quorum.config.timeout
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for missed := 0; ; {
		select {
		case <-timer.C:
		case <-m.quorum.life.Done():
			return
		}
		err := m.within(timeout, m.store.Ping)
		if err == nil && m.whySilent() != nil {
			err = m.comeBack()
		}
		pause := timeout
		if missed++; err == nil {
			missed = 0
		} else {
			pause = timeout / 4
		}
		if m.over(err, missed) {
			return
		}
		timer.Reset(pause)
	}
}

// over takes note of a look at the member, and reports whether it need not be watched for longer.
func (m *member) over(err error, missed int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && missed >= mostMissed {
		m.fallSilent(err)
	}
	m.watched = m.silent != nil || m.waiting > 0
	return !m.watched
}

// comeBack has the member asked again like the others when it has heard of all releases. The error
// is that of one of which it could not be told.
func (m *member) comeBack() error {
	for {
		m.mu.Lock()
		if len(m.releases) == 0 {
			if m.silent != nil {
				m.silent, m.gone = nil, make(chan struct{})
				m.quorum.comesBack()
			}
			m.mu.Unlock()
			return nil
		}
		releases := maps.Clone(m.releases) // there may be more meanwhile
		m.mu.Unlock()
		for k, until := range releases {
			if time.Now().Before(until) {
				if err := m.giveBack(k); err != nil {
					return err
				}
			}
			m.mu.Lock()
			delete(m.releases, k)
			m.mu.Unlock()
		}
	}
}

const (
	// mostReleases is how many releases are remembered for a member that has missed them. The
	// leases see to the rest.
	mostReleases = 10_000
	// longestRelease is for how long a release is remembered.
	longestRelease = time.Hour
)

// giveBackLater has a member that has missed a release hear of it when it answers again. The lease,
// 0 if it is not known, is when it is free without that.
func (m *member) giveBackLater(k key, lease time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.releases) < mostReleases {
		if lease <= 0 || lease > longestRelease {
			lease = longestRelease
		}
		m.releases[k] = time.Now().Add(lease)
		m.fallSilent(errTimeout)
	}
}

// giveBack gives something back once. That there is nothing is no error.
func (m *member) giveBack(k key) error {
	err := m.within(m.quorum.config.timeout, func(ctx context.Context) error { return m.release(ctx, k) })
	if errors.Is(err, pathlock.ErrNotHeld) {
		return nil
	}
	return err
}

// release gives back a grant, or all that an owner has.
func (m *member) release(ctx context.Context, k key) error {
	if k.grant == "" {
		return m.store.ForceRelease(ctx, k.tree, k.owner)
	}
	return m.store.Release(ctx, k.tree, k.owner, k.grant)
}

// giveBackOrLater gives something back, now or when the member answers again.
func (m *member) giveBackOrLater(k key, lease time.Duration) {
	if m.whySilent() != nil || m.giveBack(k) != nil {
		m.giveBackLater(k, lease)
	}
}

// within asks the member something in the background of the store.
func (m *member) within(timeout time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(m.quorum.life, timeout)
	defer cancel()
	err := ask(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTimeout
	}
	return err
}
