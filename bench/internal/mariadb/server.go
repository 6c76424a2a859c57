package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock/bench/internal/daemon"
)

// How long a server may take to start and to stop.
const (
	startTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// Server is a mariadbd that this process has started.
type Server struct {
	// DSN is that of a user with all privileges, without a database.
	DSN string

	*daemon.Daemon
}

// Start starts the installed mariadbd on a free port of the loopback interface, with a data folder
// of its own, and waits until it answers. The server does not wait for the disk at each commit.
// Call Stop in the end.
func Start(ctx context.Context) (*Server, error) {
	install, err := Program("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	server, err := Program("mariadbd")
	if err != nil {
		return nil, err
	}
	d, err := daemon.New("mariadbd", stopTimeout)
	if err != nil {
		return nil, err
	}
	s := &Server{Daemon: d}
	if err := s.run(ctx, install, server); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Program finds a program of the server, which some distributions keep out of PATH.
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
func (s *Server) run(ctx context.Context, install, server string) error {
	as, err := s.runAs()
	if err != nil {
		return err
	}
	data := filepath.Join(s.Folder, "data")
	out, err := exec.CommandContext(ctx, install, append([]string{
		"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db",
	}, as...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("making a data folder: %w: %s", err, out)
	}
	port, err := daemon.FreePort(ctx)
	if err != nil {
		return err
	}
	s.DSN = "root:@tcp(" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + ")/"
	err = s.Start(ctx, server, append([]string{
		"--no-defaults", "--datadir=" + data, "--port=" + strconv.Itoa(port), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(s.Folder, "socket"), "--pid-file=" + filepath.Join(s.Folder, "pid"), "--log-error=" + s.Log,
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=1G", "--max-connections=500",
	}, as...)...)
	if err != nil {
		return err
	}
	return s.await(ctx)
}

// runAs runs the server as its package's user, because it refuses to run as root.
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
	return []string{"--user=mysql"}, os.Chown(s.Folder, uid, -1)
}

// await waits for the first answer.
func (s *Server) await(ctx context.Context) error {
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
	return s.Await(ctx, startTimeout, pool.PingContext)
}
