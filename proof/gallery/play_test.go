// Package gallery plays failures that others have reported in public, without pathlock, where they
// happen, and with pathlock. README.md has them.
package gallery

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/proof/simredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// TestMain keeps the client from logging the connections that it loses.
func TestMain(m *testing.M) {
	logging.Disable()
	os.Exit(m.Run())
}

// TestGallery plays each table of the page twice: without pathlock, on GORM and on a lock in Redis
// as programs have them, and with pathlock. A row is a step, which takes a second, and its outcome
// without and with pathlock. Sessions are processes, each with its own connections to one database
// and one Redis. Time is virtual.
//
// A session plans a write until it has read all that it relies on and, with pathlock, holds its
// locks. Then it writes.
func TestGallery(t *testing.T) {
	page, err := os.ReadFile("README.md")
	testerr.Must(t, err)
	parts := strings.Split(string(page), "\n## ")[1:]
	if len(parts) < 11 {
		t.Errorf("the page has only %d failures", len(parts))
	}
	for _, part := range parts {
		name, text, _ := strings.Cut(part, "\n")
		_, table, _ := strings.Cut(text, "| --- | --- | --- |\n")
		for column, with := range []string{"without pathlock", "with pathlock"} {
			t.Run(name+" "+with, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { play(t, table, column) })
			})
		}
	}
}

func play(t *testing.T, table string, column int) {
	w := &world{T: t, guarded: column == 1, redis: simredis.New(), file: filepath.Join(t.TempDir(), "db"), sessions: make(map[string]*session)}
	defer w.end()
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		want, got := strings.TrimSpace(cells[2+column]), w.do(strings.Fields(cells[1]))
		if t.Logf("%s | %s", strings.TrimSpace(cells[1]), got); got != want {
			t.Errorf("want %q", want)
		}
	}
}

// world is what sessions share.
type world struct {
	*testing.T
	guarded  bool
	redis    *simredis.Server
	file     string
	sessions map[string]*session
}

// do carries out a step, and says what came of it.
func (w *world) do(words []string) string {
	if d, err := time.ParseDuration(words[0]); err == nil { // 10s later: B
		time.Sleep(d)
		words = words[2:]
	}
	switch line := strings.Join(words, " "); {
	case words[0] == "given":
		for _, path := range words[1:] {
			testerr.Must(w, w.session("A").db.Create(w.session("A").row(path)).Error)
		}
		return ""
	case line == "the tree":
		return w.tree()
	case line == "Redis fails over":
		w.redis.Restore(nil) // the replica has nothing yet
		return ""
	}
	s := w.session(words[0])
	switch verb := strings.Join(words[1:min(len(words), 2)], ""); verb {
	case "":
	case "plans":
		s.run(func() string { return s.write(words[2:]) })
	case "writes":
		close(s.paused)
	case "lists":
		return s.list(words[2])
	case "locks", "reads":
		s.run(func() string { return s.acquire(words[2], verb == "reads") })
	case "unlocks":
		s.run(s.release)
	case "is": // cut off, or back
		s.connect(words[2] == "back")
	default:
		w.Fatalf("no session %s", verb)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	answer := s.answer.Load().(string)
	if answer == "holds it" && !s.holds() {
		return "lost it"
	}
	return answer
}

// session is one process.
type session struct {
	pathlock.NopObserver
	*world
	name     string
	ctx      context.Context // over at the end of the test
	end      context.CancelFunc
	db       *gorm.DB
	plugin   *gormplugin.Plugin
	locker   *pathlock.Locker
	store    pathlock.Store
	client   *redis.Client
	mu       sync.Mutex
	conns    []net.Conn   // nil while it is cut off
	answer   atomic.Value // a string
	planning bool
	paused   chan struct{} // where a plan waits to be written
	lock     *pathlock.Lock
	held     bool // without pathlock
	shared   bool // with other readers
}

// session starts a process when it is first spoken of.
func (w *world) session(name string) *session {
	if s := w.sessions[name]; s != nil {
		return s
	}
	s := &session{world: w, name: name, conns: []net.Conn{}}
	s.answer.Store("")
	s.ctx, s.end = context.WithCancel(context.Background())
	s.client = redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379", Dialer: s.dial, DialerRetries: 1, ContextTimeoutEnabled: true})
	s.store = redisstore.New(s.client)
	s.locker = pathlock.New(s.store, pathlock.WithLease(lease), pathlock.WithWait(time.Hour), pathlock.WithObserver(s), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	s.plugin = gormplugin.New(s.locker, gormplugin.Model(&Folder{}), gormplugin.TransactionWait(time.Hour))
	db, err := gorm.Open(gormlite.Open("file:"+w.file+"?_txlock=immediate"), &gorm.Config{Logger: logger.Discard})
	testerr.Must(w, err)
	if s.db = db; w.guarded {
		testerr.Must(w, errors.Join(db.Use(s.plugin), gormplugin.AutoMigrate(db)))
	} else {
		testerr.Must(w, db.AutoMigrate(&Folder{}))
	}
	w.sessions[name] = s
	return s
}

// end ends all processes in good order.
func (w *world) end() {
	for _, s := range w.sessions {
		s.connect(true)
		s.end()
	}
	synctest.Wait()
	for _, s := range w.sessions {
		if s.lock != nil {
			_ = s.lock.Release(context.Background())
		}
		pool, err := s.db.DB()
		testerr.None(w, errors.Join(err, pool.Close(), s.locker.Shutdown(context.Background()), s.store.Close(context.Background()), s.client.Close()))
		s.connect(false)
	}
	time.Sleep(time.Second) // until the clients' goroutines notice
}

// run begins something, whose answer comes at once or later.
func (s *session) run(do func() string) {
	s.answer.Store("waits")
	go func() { s.answer.Store(do()) }()
}

// pause is where a plan is complete.
func (s *session) pause() {
	if s.planning {
		s.planning, s.paused = false, make(chan struct{})
		s.answer.Store("")
		<-s.paused
		s.answer.Store("waits")
	}
}

// Granted implements [pathlock.Observer]: what the plugin plans is complete under its locks.
func (s *session) Granted(context.Context, pathlock.Event) { s.pause() }

// dial connects to Redis.
func (s *session) dial(context.Context, string, string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return nil, net.ErrClosed
	}
	here, there := net.Pipe()
	s.conns = append(s.conns, there)
	go s.redis.Serve(there)
	return wire{here}, nil
}

// wire is a pipe that ends as a connection to another host does: whoever uses it notices.
type wire struct{ net.Conn }

func (c wire) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

func (c wire) SetWriteDeadline(t time.Time) error {
	_ = c.Conn.SetWriteDeadline(t) // Write fails, too
	return nil
}

// connect ends all connections to Redis, or allows new ones.
func (s *session) connect(back bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if back {
		s.conns = append([]net.Conn{}, s.conns...)
		return
	}
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
}
