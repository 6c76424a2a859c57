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
	*testlock.Stage
	began     time.Time
	processes map[string]*process
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

func newStage(t *testing.T) *testlock.Stage {
	s := &stage{&testlock.Stage{T: t, Things: map[string]any{}}, time.Now(), map[string]*process{}}
	s.PerName = []string{"await", "cause", "claims", "degraded", "detach", "err", "pending", "release"}
	s.Causes = map[string]error{
		"enough": errors.New("enough"), "canceled": context.Canceled, "deadline": context.DeadlineExceeded,
		"conflict": pathlock.ErrConflict, "deadlock": pathlock.ErrDeadlock, "lost": pathlock.ErrLost, "not-held": pathlock.ErrNotHeld,
		"unavailable": pathlock.ErrUnavailable, "closed": pathlock.ErrClosed, "invalid": pathlock.ErrInvalidRequest, "too-long": pathlock.ErrHeldTooLong,
	}
	store := memstore.New()
	for _, name := range []string{"here", "there", "afar", "weak"} {
		s.processes[name] = newProcess(store, name == "weak")
	}
	s.Run, s.End = s.run, func() {
		for _, p := range s.processes {
			p.set(nil)
		}
		for _, thing := range s.Things {
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
	return s.Stage
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

// set makes a hook run before some calls, and no other hook before any call.
func (p *process) set(hook func(context.Context) error, calls ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hooks = map[string]func(context.Context) error{}
	for _, call := range calls {
		p.hooks[call] = hook
	}
}

// stall makes calls wait until they are let through, or their contexts end.
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
	switch thing := s.Things[name].(type) {
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
	lock, ok := s.Things[name].(*held)
	if !ok {
		s.Fatalf("%s is no lock", name)
	}
	return lock
}

func (s *stage) token(name string) pathlock.Token { return s.Things[name].(pathlock.Token) }

// called returns the name of a token, or the token if it is new.
func (s *stage) called(token pathlock.Token) any {
	for name, thing := range s.Things {
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
func (c *call) acquire(p *process, text string) (any, error) {
	c.Helper()
	var lock *pathlock.Lock
	var err error
	kind, name, _ := strings.Cut(text, " ")
	if m := p.RWMutex(name); kind == "write" || kind == "read" {
		m.MaxHold = c.option("max", 0)
		m.Note = c.Options["note"]
		try, wait, tryFor := m.TryLock, m.Lock, m.TryLockFor
		if kind == "read" {
			try, wait, tryFor = m.TryRLock, m.RLock, m.TryRLockFor
		}
		switch c.Options["wait"] {
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
		req.Asserted = c.Options["asserted"] != ""
		if id := c.Options["tree"]; id != "" {
			req.Tree = tree(c, id)
		}
		lock, err = p.Acquire(c.under(), req)
	}
	if err != nil {
		return nil, err
	}
	return &held{lock, p}, nil
}

// errorOf joins the errors that words name.
func (c *call) errorOf(words []string) error {
	var all []error
	for _, word := range words {
		all = append(all, c.Causes[word])
	}
	return errors.Join(all...)
}

// fail makes the calls that stand before "=" fail with the errors that stand behind it.
func (c *call) fail() {
	at := slices.Index(c.Words, "=")
	err := c.errorOf(c.Words[at+1:])
	after := c.Option(c, "after", 0)
	c.process(c.Words[0]).set(func(context.Context) error {
		time.Sleep(after)
		return err
	}, c.Words[1:at]...)
}

// call is a command that runs.
type call struct {
	*stage
	*testlock.Call
}

// run runs a command. Acquisitions begin with their process.
func (s *stage) run(c *testlock.Call) (any, error) {
	if p := s.processes[c.Words[0]]; p != nil {
		return (&call{s, c}).acquire(p, strings.Join(c.Words[1:], " "))
	}
	do := commands[c.Words[0]]
	if do == nil {
		s.Fatalf("what is %s?", c.Text)
	}
	c.Words = c.Words[1:]
	return do(&call{s, c})
}

// option returns an option that is a duration, which may be the default one, or the longest.
func (c *call) option(name string, or time.Duration) time.Duration {
	switch c.Options[name] {
	case "default":
		return 0
	case "forever":
		return pathlock.Forever
	default:
		return c.Option(c, name, or)
	}
}

// under returns the context that a command works under.
func (c *call) under() context.Context { return c.context(c.Options["under"]) }
