package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// stage is the world of a transcript: processes on one store, and what their commands returned.
type stage struct {
	*testing.T
	began     time.Time
	processes map[string]*process
	things    map[string]any
	causes    map[string]error
	end       func()
}

// process is a locker of its own.
type process struct {
	*pathlock.Locker
	store *testlock.Watched
	seen  journal
	log   strings.Builder

	mu      sync.Mutex
	hooks   map[string]func(context.Context) error
	through chan struct{} // what is stalled waits for it
}

// held is a lock with the process that has it.
type held struct {
	*pathlock.Lock
	by *process
}

// ending is a context that a command can end.
type ending struct {
	context.Context
	end context.CancelCauseFunc
}

func newStage(t *testing.T) *stage {
	s := &stage{T: t, began: time.Now(), processes: map[string]*process{}, things: map[string]any{}}
	s.causes = map[string]error{"enough": errors.New("enough"), "canceled": context.Canceled, "deadline": context.DeadlineExceeded}
	for word, err := range map[string]error{
		"conflict": pathlock.ErrConflict, "deadlock": pathlock.ErrDeadlock, "lost": pathlock.ErrLost, "not-held": pathlock.ErrNotHeld,
		"unavailable": pathlock.ErrUnavailable, "closed": pathlock.ErrClosed, "invalid": pathlock.ErrInvalidRequest, "too-long": pathlock.ErrHeldTooLong,
	} {
		s.causes[word] = err
	}
	store := memstore.New()
	for _, name := range []string{"here", "there", "afar", "weak"} {
		s.processes[name] = newProcess(store, name == "weak")
	}
	s.end = func() {
		for _, p := range s.processes {
			p.set(nil)
		}
		for _, thing := range s.things {
			switch thing := thing.(type) {
			case *held:
				_ = thing.Release(s.Context())
			case *ending:
				thing.end(nil)
			}
		}
		for _, p := range s.processes {
			_ = p.Shutdown(s.Context())
		}
	}
	return s
}

// newProcess returns a process that may go on without its store.
func newProcess(store pathlock.Store, degrades bool) *process {
	p := &process{store: &testlock.Watched{Store: store}}
	only := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey || a.Key == slog.MessageKey {
			return a
		}
		return slog.Attr{}
	}
	log := slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{ReplaceAttr: only}))
	used := pathlock.Store(p.store)
	if degrades {
		used = pathlock.Degrade(used, pathlock.Degradation{Limit: time.Minute, Log: log})
	}
	p.Locker = pathlock.New(used, pathlock.WithLogger(log), pathlock.WithObserver(&p.seen), pathlock.WithWait(3*time.Second), pathlock.WithLease(30*time.Second))
	p.store.Set(func(ctx context.Context, call string) error {
		p.mu.Lock()
		hook := p.hooks[call]
		p.mu.Unlock()
		if hook == nil {
			return nil
		}
		return hook(ctx)
	})
	return p
}

// set has a hook asked for some calls, and no other one for any call.
func (p *process) set(hook func(context.Context) error, calls ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hooks = map[string]func(context.Context) error{}
	for _, call := range calls {
		p.hooks[call] = hook
	}
}

// stall has calls wait until they are let through, or their contexts end.
func (p *process) stall(calls []string) {
	through := make(chan struct{})
	p.through = through
	p.set(func(ctx context.Context) error {
		select {
		case <-through:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("bare: %w", ctx.Err())
		}
	}, calls...)
}

// context returns a context by its name, or the one of the whole transcript.
func (s *stage) context(name string) context.Context {
	switch thing := s.things[name].(type) {
	case *held:
		return thing.Context()
	case context.Context:
		return thing
	}
	if name != "" {
		s.Fatalf("%s is no context", name)
	}
	return context.WithoutCancel(s.Context())
}

func (s *stage) lock(name string) *held {
	lock, ok := s.things[name].(*held)
	if !ok {
		s.Fatalf("%s is no lock", name)
	}
	return lock
}

func (s *stage) token(name string) pathlock.Token { return s.things[name].(pathlock.Token) }

// called returns the name of a token, or the token if it is new.
func (s *stage) called(token pathlock.Token) any {
	for name, thing := range s.things {
		if thing == token {
			return name
		}
	}
	return token
}

func (s *stage) process(name string) *process {
	if s.processes[name] == nil {
		s.Fatalf("%s is no process", name)
	}
	return s.processes[name]
}

// acquire takes claims, the gate, or a mutex to write or to read.
func (c *call) acquire(p *process, text string) result {
	c.Helper()
	var lock *pathlock.Lock
	var err error
	kind, name, _ := strings.Cut(text, " ")
	if m := p.RWMutex(name); kind == "write" || kind == "read" {
		m.MaxHold = c.option("max", 0)
		m.Note = c.options["note"]
		try, wait, tryFor := m.TryLock, m.Lock, m.TryLockFor
		if kind == "read" {
			try, wait, tryFor = m.TryRLock, m.RLock, m.TryRLockFor
		}
		switch c.options["wait"] {
		case "":
			lock, err = try(c.under())
		case "forever":
			lock, err = wait(c.under())
		default:
			lock, err = tryFor(c.under(), c.option("wait", 0))
		}
	} else {
		req := request(c, text)
		req.Wait, req.Lease, req.MaxHold = c.option("wait", pathlock.NoWait), c.option("lease", 0), c.option("max", 0)
		req.Asserted = c.options["asserted"] != ""
		if id := c.options["tree"]; id != "" {
			req.Tree = tree(c, id)
		}
		lock, err = p.Acquire(c.under(), req)
	}
	if err != nil {
		return result{err: err}
	}
	return result{value: &held{lock, p}}
}

// errorOf joins the errors that words name.
func (c *call) errorOf(words []string) error {
	var all []error
	for _, word := range words {
		all = append(all, c.causes[word])
	}
	return errors.Join(all...)
}

// fail has calls of a process fail, those before "=" with the errors behind it.
func (c *call) fail() {
	at := slices.Index(c.words, "=")
	err := c.errorOf(c.words[at+1:])
	after := c.option("after", 0)
	c.process(c.words[0]).set(func(context.Context) error {
		time.Sleep(after)
		return err
	}, c.words[1:at]...)
}
