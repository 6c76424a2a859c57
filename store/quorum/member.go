package quorum

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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
	// slow says that it has answered later than it was waited for.
	slow bool
	// waiting is how many requests wait in its queue. While there are some, or while it is silent,
	// it is watched by a goroutine.
	waiting int
	watched bool
	// debts are what it has to give back when it answers again, until when.
	debts map[debt]time.Time
	// strays are the requests that nobody waits for, and whose answer is not known yet.
	strays map[key]chan struct{}
}

// key names a request.
type key struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

func newMember(s *Store, index int, store pathlock.Store) *member {
	return &member{
		store: store, index: index, name: s.config.name(index), quorum: s,
		gone: make(chan struct{}), debts: make(map[debt]time.Time), strays: make(map[key]chan struct{}),
	}
}

func (m *member) isSilent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silent != nil
}

// whySilent returns the error for a member that is not asked, nil if it is.
func (m *member) whySilent() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.silent
}

func (m *member) isSlow() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.slow
}

// lost returns a channel that is closed when the member falls silent.
func (m *member) lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

// late notes that the member has not answered for as long as it was waited for.
func (m *member) late() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = true
}

// answered notes an answer that took so long, and whether it was none.
func (m *member) answered(took time.Duration, err error) {
	if !isAnswer(err) {
		m.silence(err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if took < m.quorum.config.timeout/4 {
		m.slow = false
	}
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
// does again. Before it is asked for anything else, it gives back what it owes.
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
		if err == nil && m.isSilent() {
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

// comeBack has the member asked again like the others when it owes nothing. The error is that of
// what it could not give back.
func (m *member) comeBack() error {
	for {
		m.mu.Lock()
		if len(m.debts) == 0 {
			if m.silent != nil {
				m.silent, m.slow, m.gone = nil, false, make(chan struct{})
				m.quorum.comesBack()
			}
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		// Others may run up debts meanwhile.
		if err := m.settle(); err != nil {
			return err
		}
	}
}

// within asks the member something in the background of the store.
func (m *member) within(timeout time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(m.quorum.life, timeout)
	defer cancel()
	_, err := guarded(func() (struct{}, error) { return struct{}{}, ask(ctx) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errTimeout
	}
	return err
}

// guarded asks a member, and turns its panic into an error: it happens on a goroutine on which the
// caller could not.
func guarded[T any](ask func() (T, error)) (value T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return ask()
}
