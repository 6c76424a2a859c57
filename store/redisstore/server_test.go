package redisstore

import (
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// server is a Redis of a test's own, for tests that disturb it.
type server struct {
	*testredis.Server
	t testing.TB
}

// startServer starts a Redis that is stopped at the end of the test. It keeps nothing on disk.
func startServer(t testing.TB) *server {
	t.Helper()
	testserver.Redis(t) // where tests have no Redis to use, they need not have one to start either
	return &server{testredis.Start(t, testredis.Redis), t}
}

// store returns a store that is closed at the end of the test.
func (s *server) store(opts ...Option) *Store { return closeStore(s.t, New(s.Client(), opts...)) }

// calls returns how often the server has carried out a command.
func (s *server) calls(command string) int {
	s.t.Helper()
	about, _, _ := strings.Cut(s.Info("commandstats", "cmdstat_"+command), ",")
	n, _ := strconv.Atoi(strings.TrimPrefix(about, "calls="))
	return n
}
