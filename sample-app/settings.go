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
type backend struct{ instance.Config }

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

// config returns what the flags say. In it, 0 would mean the default wait.
func (b *backend) config(log *slog.Logger) instance.Config {
	config := b.Config
	config.Log = log
	if config.Wait == 0 {
		config.Wait = pathlock.NoWait
	}
	return config
}
