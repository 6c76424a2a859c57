package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// backend is the flags of serve and import.
type backend struct {
	DB            string        `help:"Database: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name. For a password, set the environment variable: other users can see the command line." default:"${db}" env:"PATHLOCK_DB" placeholder:"URL"`
	Connections   int           `name:"db-connections" help:"Largest number of connections to a database server. An SQLite file has a limit of its own." default:"20" env:"PATHLOCK_DB_CONNECTIONS" placeholder:"N"`
	Locks         string        `help:"Lock store: ${stores}." default:"memory://" env:"PATHLOCK_LOCKS" placeholder:"URL"`
	LocksPassword string        `help:"Password of the lock store, not encoded, if its URL has none. Set the environment variable: other users can see the command line." env:"PATHLOCK_LOCKS_PASSWORD" placeholder:"PASSWORD"`
	Assert        bool          `help:"Assert in every transaction that the paths on which the work relies are still right." default:"true" negatable:"" env:"PATHLOCK_ASSERT"`
	Namespace     string        `help:"Namespace of the locks. It keeps the locks of several databases apart on one lock store. All instances on a database need the same one." default:"testplan" env:"PATHLOCK_NAMESPACE"`
	Wait          time.Duration `help:"How long a request waits for locks that others hold. 0 means not at all." default:"2s" env:"PATHLOCK_WAIT"`
	Lease         time.Duration `help:"How long the locks of a dead instance stay." default:"30s" env:"PATHLOCK_LEASE"`
}

// defaultDB is the default of --db.
const defaultDB = "sqlite://pathlock-sample.db"

// Limits of the settings.
const (
	// minLease leaves time for a slow answer to a renewal, which is due after a third of the lease.
	minLease = 100 * time.Millisecond
	maxLease = 24 * time.Hour
	// maxConnections is more than most servers allow.
	maxConnections = 1000
)

// Validate refuses settings that could serve no request. kong calls it after it has read the
// command line.
func (b *backend) Validate() error {
	return errors.Join(
		refused("--db", "PATHLOCK_DB", checkDB(b.DB)),
		refused("--db-connections", "PATHLOCK_DB_CONNECTIONS", within(b.Connections, 1, maxConnections)),
		checkLocks(b.Locks, b.LocksPassword),
		refused("--namespace", "PATHLOCK_NAMESPACE", httpapi.CheckNamespace(b.Namespace)),
		refused("--wait", "PATHLOCK_WAIT", within(b.Wait, 0, instance.MaxWait)),
		refused("--lease", "PATHLOCK_LEASE", within(b.Lease, minLease, maxLease)),
	)
}

// checkDB says why a database cannot be opened. It connects to none.
func checkDB(url string) error {
	_, err := sqlopen.Parse(url)
	return err
}

// checkLocks refuses the settings of a lock store that cannot be opened.
func checkLocks(url, password string) error {
	flag, variable := "--locks", "PATHLOCK_LOCKS"
	if password != "" {
		flag, variable = "--locks with --locks-password", "PATHLOCK_LOCKS, PATHLOCK_LOCKS_PASSWORD"
	}
	return refused(flag, variable, openable(url, password))
}

// openable says why a lock store cannot be opened. That it cannot be reached is no reason.
func openable(url, password string) error {
	store, err := anystore.Open(context.Background(), url, append(instance.Stores, anystore.WithPassword(password))...)
	switch {
	case errors.Is(err, pathlock.ErrUnavailable):
		return nil
	case err != nil:
		return err
	default:
		return store.Close(context.Background())
	}
}

// refused names the setting of an error.
func refused(flag, variable string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s (%s): %w", flag, variable, err)
}

// within refuses a value outside the bounds.
func within[T cmp.Ordered](value, least, most T) error {
	if value < least || value > most {
		return fmt.Errorf("%v is out of bounds: give %v to %v", value, least, most)
	}
	return nil
}

func (b *backend) config(log *slog.Logger) instance.Config {
	wait := b.Wait
	if wait == 0 {
		wait = pathlock.NoWait
	}
	return instance.Config{
		DB: b.DB, Connections: b.Connections, Locks: b.Locks, LocksPassword: b.LocksPassword, Assert: b.Assert, Namespace: b.Namespace,
		Wait: wait, Lease: b.Lease, Log: log,
	}
}
