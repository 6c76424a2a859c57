package command

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// isPrivate reports whether no other program sees the lock store of a URL, or a member of a quorum.
func isPrivate(url string) bool {
	if members, ok := strings.CutPrefix(url, "quorum:"); ok {
		return slices.ContainsFunc(strings.Split(members, "|"), isPrivate)
	}
	return strings.HasPrefix(url, "memory:") || strings.HasPrefix(url, "off:")
}

// storeOptions are the lock stores that the command line knows.
type storeOptions []anystore.Option

// forms lists the URLs of the lock stores that programs share, for the help.
func (o storeOptions) forms() string {
	return strings.Join(slices.DeleteFunc(anystore.Forms(o...), isPrivate), ", ")
}

// lockStore has the flags of the commands that look at locks, and the lock stores that the program
// was built with.
type lockStore struct {
	stores        storeOptions
	Locks         string `help:"Lock store: ${stores}." env:"PATHLOCK_LOCKS" placeholder:"URL" group:"Lock store:"`
	LocksPassword string `help:"Password of the lock store, unencoded, if its URL has none. Set the environment variable: other users can see the command line." env:"PATHLOCK_LOCKS_PASSWORD" placeholder:"PASSWORD" group:"Lock store:"`
}

// BeforeApply is called by kong.
func (s *lockStore) BeforeApply(stores storeOptions) error {
	s.stores = stores
	return nil
}

// open opens the lock store, which other programs must be able to see. With looks set, it creates
// neither tables nor a file. The caller calls the returned function at the end.
func (s lockStore) open(ctx context.Context, looks bool) (*pathlock.Locker, func(), error) {
	switch {
	case s.Locks == "":
		return nil, nil, fmt.Errorf("%w: no lock store: give --locks, or set PATHLOCK_LOCKS", errUsage)
	case s.Locks == "off", isPrivate(s.Locks):
		return nil, nil, fmt.Errorf("%w: --locks: this lock store shows its locks to no other program", errUsage)
	}
	opts := append([]anystore.Option{anystore.WithPassword(s.LocksPassword)}, s.stores...)
	if looks {
		opts = append(opts, anystore.WithoutTables())
	}
	store, err := anystore.Open(ctx, s.Locks, opts...)
	switch {
	case errors.Is(err, anystore.ErrURL):
		return nil, nil, fmt.Errorf("%w: --locks: %w", errUsage, err)
	case err != nil:
		return nil, nil, failed("--locks", err)
	}
	end := func() { doctor.Close(ctx, store) }
	if looks && doctor.MissingFile(store) {
		end()
		return nil, nil, fmt.Errorf("--locks: there is no file %s: no program has used this lock store", strings.TrimPrefix(store.String(), "sqlite://"))
	}
	return pathlock.New(store, pathlock.WithLogger(slog.New(slog.DiscardHandler))), end, nil
}

// failed says what an error of the lock store means.
func failed(what string, err error) error {
	if errors.Is(err, pathlock.ErrUnavailable) {
		return fmt.Errorf("%s: the lock store %s: %w", what, anystore.Trouble(err), err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// openLocks opens the lock store, unless the command line says off: then the locker is nil.
func (c *fsckCommand) openLocks(ctx context.Context, out *output) (*pathlock.Locker, func(), error) {
	switch {
	case c.Locks == "off", c.Locks == "off://":
		out.warn("repairing without locks: only row locks protect the repair from other writers")
		return nil, func() {}, nil
	case isPrivate(c.Locks):
		return nil, nil, fmt.Errorf("%w: --locks: no other program sees the locks of this one's memory; give off if no program writes the table", errUsage)
	}
	return c.open(ctx, false)
}

// openDB opens the database that --db names, without connecting to it. A file has to exist.
func openDB(name string) (*sql.DB, fsck.Dialect, error) {
	d, err := sqlopen.Parse(name)
	if err != nil {
		return nil, "", fmt.Errorf("%w: --db: %w", errUsage, err)
	}
	if d.Dialect == sqlstore.SQLite {
		// A writing transaction waits for others. The version is read from the file, which may be
		// no database.
		d.SQLite.RawQuery = "mode=rw&_pragma=busy_timeout(30000)&_pragma=schema_version"
	}
	db, err := d.Open()
	if err != nil {
		return nil, "", fmt.Errorf("%w: --db: %w", errUsage, err)
	}
	return db, d.Dialect, nil
}

// connecting is how long a database may take to connect: behind a wrong port, nothing ever answers.
const connecting = 10 * time.Second

// connectDB opens the database that --db names, which has to answer in time.
func connectDB(ctx context.Context, name string) (*sql.DB, fsck.Dialect, error) {
	db, dialect, err := openDB(name)
	if err != nil {
		return nil, "", err
	}
	if err := reach(ctx, db, connecting); err != nil {
		return nil, "", errors.Join(err, db.Close())
	}
	return db, dialect, nil
}

// reach returns an error if the database does not answer in time.
func reach(ctx context.Context, db *sql.DB, patience time.Duration) error {
	if err := doctor.Within(ctx, patience, db.PingContext); err != nil {
		return fmt.Errorf("connect to the database, which %s: %w", anystore.Trouble(err), err)
	}
	return nil
}
