package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// Times within which a server has to come up, and to go.
const (
	startTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// Server is a mariadbd that this process has started.
type Server struct {
	// DSN reaches it, for a user who may do everything, without a database.
	DSN string

	folder string
	exited chan struct{}
	cmd    *exec.Cmd
}

// Start runs the mariadbd that there is, on a free port of the loopback interface, on a data folder of its own, and
// returns when it answers. It does not wait for the disk at each commit. Stop it in the end.
func Start(ctx context.Context) (*Server, error) {
	install, err := Program("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	daemon, err := Program("mariadbd")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pathlock-bench-mariadb-")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, exited: make(chan struct{})}
	if err := s.run(ctx, install, daemon); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Program finds a program of the server, which distributions keep out of PATH at times.
func Program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			return "", fmt.Errorf("there is no %s to start a server with: %w", name, err)
		}
	}
	return path, nil
}

// run makes the data folder, starts the server and waits until it answers.
func (s *Server) run(ctx context.Context, install, daemon string) error {
	as, err := s.runAs()
	if err != nil {
		return err
	}
	data := filepath.Join(s.folder, "data")
	out, err := exec.CommandContext(ctx, install, append([]string{
		"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db",
	}, as...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("making a data folder: %w: %s", err, out)
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	s.DSN = "root:@tcp(" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + ")/"
	// The server outlives ctx until Stop.
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), daemon, append([]string{
		"--no-defaults", "--datadir=" + data, "--port=" + strconv.Itoa(port), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(s.folder, "socket"), "--pid-file=" + filepath.Join(s.folder, "pid"), "--log-error=" + s.logfile(),
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=1G",
	}, as...)...)
	// An interrupt from the terminal is for this process alone, which then stops the server.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return fmt.Errorf("starting %s: %w", daemon, err)
	}
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait() // however it ended: whoever waits for an answer looks at the log
	}()
	return s.await(ctx)
}

// runAs has the server run as the user that its package made, as it refuses to be root's.
func (s *Server) runAs() ([]string, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	owner, err := user.Lookup("mysql")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return nil, err
	}
	return []string{"--user=mysql"}, os.Chown(s.folder, uid, -1)
}

// await waits for the first answer.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	config, err := mysqldriver.ParseDSN(s.DSN)
	if err != nil {
		return err
	}
	config.Logger = &mysqldriver.NopLogger{}
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer func() { _ = pool.Close() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if pool.PingContext(ctx) == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.exited:
			return fmt.Errorf("mariadbd ended at once: %s", s.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("mariadbd does not answer: %w: %s", context.Cause(ctx), s.lastWords())
		}
	}
}

// Stop ends the server, by force if it does not end by itself, and removes its folder.
func (s *Server) Stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		patience := time.AfterFunc(stopTimeout, func() { _ = s.cmd.Process.Kill() })
		<-s.exited
		patience.Stop()
	}
	return os.RemoveAll(s.folder)
}

func (s *Server) logfile() string { return filepath.Join(s.folder, "mariadb.log") }

// lastWords is the end of the log.
func (s *Server) lastWords() string {
	const most = 2000
	log, err := os.Open(s.logfile())
	if err != nil {
		return "it has no log"
	}
	defer func() { _ = log.Close() }()
	words, err := io.ReadAll(log)
	if err != nil || len(words) == 0 {
		return "its log is empty"
	}
	return string(words[max(0, len(words)-most):])
}

// freePort returns a TCP port of the loopback interface that is free at the moment.
func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
