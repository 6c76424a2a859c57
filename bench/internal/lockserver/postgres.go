package lockserver

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

	"github.com/jackc/pgx/v5"

	"github.com/pathlock-go/pathlock/bench/internal/daemon"
)

// Postgres is a PostgreSQL that this process has started. It has one database, postgres, whose user
// postgres needs no password.
type Postgres struct {
	// Addr is its host and port.
	Addr string

	*daemon.Daemon
}

// StartPostgres starts the installed server of the latest version. Call Stop in the end.
func StartPostgres(ctx context.Context) (*Postgres, error) {
	initdb, server, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	d, err := daemon.New("postgres", stopTimeout)
	if err != nil {
		return nil, err
	}
	d.Talks = true
	p := &Postgres{Daemon: d}
	if err := p.run(ctx, initdb, server); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// postgresPrograms finds initdb and postgres, which Debian keeps out of PATH.
func postgresPrograms() (initdb, server string, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is right
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", "", fmt.Errorf("PostgreSQL is %w", ErrMissing)
	}
	initdb = slices.Max(found)
	return initdb, filepath.Join(filepath.Dir(initdb), "postgres"), nil
}

// run makes the data folder, starts the server and waits until it answers.
func (p *Postgres) run(ctx context.Context, initdb, server string) error {
	data := filepath.Join(p.Folder, "data")
	as, err := p.runAs()
	if err != nil {
		return err
	}
	prepare := append(slices.Clone(as), initdb, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
	if out, err := exec.CommandContext(ctx, prepare[0], prepare[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("making a data folder: %w: %s", err, out)
	}
	port, err := daemon.FreePort(ctx)
	if err != nil {
		return err
	}
	p.Addr = "127.0.0.1:" + strconv.Itoa(port)
	serve := append(slices.Clone(as), server, "-D", data, "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories="+p.Folder, "-c", "max_connections=300", "-c", "fsync=off")
	if err := p.Start(ctx, serve[0], serve[1:]...); err != nil {
		return err
	}
	return p.Await(ctx, startTimeout, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, p.URL(p.Addr))
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}

// runAs returns what runs a program as the package's user: the server refuses to run as root.
func (p *Postgres) runAs() ([]string, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return nil, err
	}
	return []string{"setpriv", "--reuid=" + owner.Uid, "--regid=" + owner.Gid, "--init-groups"}, os.Chown(p.Folder, uid, -1)
}

// URL returns the URL of the database by way of an address.
func (p *Postgres) URL(addr string) string {
	return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
}
