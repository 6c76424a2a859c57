package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// server is a server of the test's own, which it can kill and start again.
type server struct {
	t       *testing.T
	program string
	args    []string
	as      *syscall.Credential
	dir     string
	driver  string
	dsn     string
	cmd     *exec.Cmd
	ended   chan error
}

// ownServer prepares a server's folder, which belongs to the user whom the server runs as.
func ownServer(t *testing.T, program, account string) *server {
	t.Helper()
	// Another user than root cannot get into a folder of t.TempDir.
	dir, err := os.MkdirTemp("", "sqlstore")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &server{t: t, program: program, dir: dir}
	if u, err := user.Lookup(account); err == nil && os.Getuid() == 0 {
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// prepare runs a program as the server's user.
func (s *server) prepare(program string, args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), program, args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.as}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v: %s", program, err, out)
	}
}

// launch starts the server's process.
func (s *server) launch() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	s.cmd = exec.Command(s.program, s.args...) //nolint:noctx // kill ends it.
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.dir, log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan error) { ended <- cmd.Wait() }(s.cmd, s.ended)
}

// start starts the server and returns when it answers. It may end again while processes of a killed
// one are still there.
func (s *server) start() {
	s.t.Helper()
	s.launch()
	db := opened(s.t, s.driver, s.dsn)
	defer func() { _ = db.Close() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := db.PingContext(s.t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.t.Fatalf("the server does not answer: %v\n%s", err, text)
		}
		select {
		case <-s.ended: //nolint:errcheck // Whatever it was, the next one may go on.
			s.launch()
		default:
		}
	}
}

// kill ends the server as a power failure does.
func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		if err := <-s.ended; err == nil {
			s.t.Error("the server ended by itself")
		}
		s.cmd = nil
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := testnet.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func ownPostgres(t *testing.T) (*server, database) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		testserver.Missing(t, "there is no program postgres")
	}
	bin, port := filepath.Dir(slices.Max(found)), freePort(t)
	s := ownServer(t, filepath.Join(bin, "postgres"), "postgres")
	data := filepath.Join(s.dir, "data")
	s.prepare(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
	s.args = []string{"-D", data, "-p", strconv.Itoa(port), "-k", s.dir, "-h", "127.0.0.1"}
	s.driver, s.dsn = "pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port)
	s.start()
	t.Cleanup(s.kill)
	return s, database{"PostgreSQL", s.dsn, sqlstore.Postgres}
}

func ownMariaDB(t *testing.T) (*server, database) {
	t.Helper()
	program, err := exec.LookPath("mariadbd")
	if err != nil {
		testserver.Missing(t, "there is no program mariadbd")
	}
	port := freePort(t)
	s := ownServer(t, program, "mysql")
	data := filepath.Join(s.dir, "data")
	s.prepare("mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	s.args = []string{
		"--no-defaults", "--datadir=" + data, fmt.Sprintf("--port=%d", port), "--socket=" + filepath.Join(s.dir, "s"),
		"--bind-address=127.0.0.1", "--innodb-buffer-pool-size=32M",
	}
	s.driver, s.dsn = "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port)
	s.start()
	t.Cleanup(s.kill)
	db := opened(t, s.driver, s.dsn)
	run(t, db, "CREATE DATABASE locks")
	return s, database{"MariaDB", "mysql://" + s.dsn + "locks", sqlstore.MySQL}
}

// What is held when the server is killed is held afterwards, and who waited goes on waiting.
func TestServerIsKilled(t *testing.T) {
	for name, own := range map[string]func(*testing.T) (*server, database){"PostgreSQL": ownPostgres, "MariaDB": ownMariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, d := own(t)
			s, other := d.store(t), d.store(t)
			tree := newTree(t)
			held := ask(tree, x("/a"))
			before := take(t, s, held)
			w := queue(t, other, ask(tree, x("/a")))
			server.kill()

			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := s.Release(ctx, tree, held.Owner, held.Grant); !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a release without a server: %v", err)
			}
			server.start()

			lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}})
			if err != nil || len(lost) > 0 {
				t.Errorf("after the restart, %v have lost what they held, %v", lost, err)
			}
			if late := ask(tree, x("/a")); !errors.Is(func() error { _, err := s.Acquire(t.Context(), late); return err }(), pathlock.ErrConflict) {
				t.Error("after the restart, another one gets what is held")
			}
			release(t, s, held)
			w.granted()
			if w.grant.Fence <= before.Fence {
				t.Errorf("the fence %d after %d", w.grant.Fence, before.Fence)
			}
			release(t, other, w.req)
			left(t, s, tree)
		})
	}
}
