package anystore_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Whatever the URL, a call ends at the latest its wait plus the URL's time-out after it began, the
// first one included, which may have to make tables.
func TestCallsEndInTime(t *testing.T) {
	const timeout, slack = 700 * time.Millisecond, 500 * time.Millisecond
	for _, url := range []string{
		"redis://ADDRESS?timeout=700ms",
		"redis+cluster://ADDRESS?timeout=700ms",
		"redis+sentinel://main@ADDRESS?timeout=700ms&pool_size=2",
		"mysql://user:password@tcp(ADDRESS)/locks?timeout=700ms",
		"postgres://user:password@ADDRESS/locks?timeout=700ms&sslmode=disable",
		"sqlite://PATH?timeout=700ms",
		"zk://ADDRESS?timeout=700ms",
		"etcd://ADDRESS?timeout=700ms",
		"quorum:memory://|redis://ADDRESS|redis://ADDRESS/1|timeout=233ms", // for each of them
		"quorum:redis://ADDRESS|redis://ADDRESS/1|redis://ADDRESS/2|timeout=233ms",
	} {
		scheme, _, _ := strings.Cut(url, ":")
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "locks.db")
			store := open(t, strings.NewReplacer("ADDRESS", silent(t), "PATH", path).Replace(url))
			if scheme == "sqlite" {
				lockOut(t, path+"-locks")
			}
			mutex := pathlock.New(store).Mutex("silence")
			for what, call := range map[string]struct {
				wait time.Duration
				do   func(context.Context) error
			}{
				"TryLock":    {0, func(ctx context.Context) error { _, err := mutex.TryLock(ctx); return err }},
				"TryLockFor": {500 * time.Millisecond, func(ctx context.Context) error { _, err := mutex.TryLockFor(ctx, 500*time.Millisecond); return err }},
				"Ping":       {0, store.Ping},
			} {
				began := time.Now()
				err := call.do(t.Context())
				if took := time.Since(began); took > call.wait+timeout+slack {
					t.Errorf("%s took %v", what, took)
				}
				if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v, want ErrUnavailable", what, err)
				}
			}
		})
	}
}

// silent returns the address of a server that takes connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// lockOut has another connection keep a SQLite file to itself.
func lockOut(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
}
