package gallery

import (
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

const lease = 30 * time.Second

// drive is the tree of the folders, as the plugin names it.
var drive, _ = pathlock.NewTree("folders", "home") // it is a valid one

// acquire locks a path, and says who else believes in a lock that conflicts when it is granted.
func (s *session) acquire(path string, shared bool) string {
	if !s.guarded {
		s.acquireBare(shared)
	} else {
		claim := pathlock.X(pathlock.MustParsePath(path))
		if shared {
			claim.Mode = pathlock.ModeS
		}
		lock, err := s.locker.Acquire(s.ctx, pathlock.Request{Tree: drive, Claims: []pathlock.Claim{claim}})
		if err != nil {
			return err.Error()
		}
		s.lock = lock
	}
	s.held, s.shared = true, shared
	for _, other := range s.sessions {
		if other != s && other.holds() && (!shared || !other.shared) {
			return "holds it, as " + other.name + " does"
		}
	}
	return "holds it"
}

// holds reports whether the session believes in its lock.
func (s *session) holds() bool {
	if s.guarded {
		return s.lock != nil && s.lock.Context().Err() == nil
	}
	return s.held
}

// release unlocks.
func (s *session) release() string {
	if s.guarded {
		switch err := s.lock.Release(s.ctx); {
		case errors.Is(err, pathlock.ErrLost):
			return "had lost it"
		case err != nil:
			return err.Error()
		}
		return "done"
	}
	s.held = false
	s.ask("HDEL", "readers", s.name)
	s.ask("DEL", "lock")
	s.ask("PUBLISH", "unlocked", "")
	return "done"
}

// acquireBare locks as programs often do: SET NX with a time to live. It tries again when a
// holder's message says that it has gone, and at the latest after that time.
func (s *session) acquireBare(shared bool) {
	unlocked := s.client.Subscribe(s.ctx, "unlocked")
	defer func() { testerr.None(s, unlocked.Close()) }()
	for heard := unlocked.Channel(); !s.tryBare(shared) && s.ctx.Err() == nil; {
		select {
		case <-heard:
		case <-time.After(lease):
		case <-s.ctx.Done():
		}
	}
}

// tryBare asks for the lock. A writer gets it while there are no readers, and a reader while there
// is no writer.
func (s *session) tryBare(shared bool) bool {
	switch {
	case !shared:
		return s.ask("EXISTS", "readers") == "0" && s.ask("SET", "lock", s.name, "NX", "PX", lease.Milliseconds()) == "OK"
	case s.ask("EXISTS", "lock") == "1":
		return false
	}
	s.ask("HSET", "readers", s.name, "1")
	return true
}

// ask sends a command to Redis.
func (s *session) ask(command ...any) string {
	return fmt.Sprint(s.client.Do(s.ctx, command...).Val())
}
