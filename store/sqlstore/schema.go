package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// ErrTables says that the table is unusable. The message says what is wrong with it.
var ErrTables = errors.New("sqlstore: the table is unusable")

// ErrNoTable says that the table is missing. It matches [ErrTables].
var ErrNoTable = fmt.Errorf("%w: there is no table", ErrTables)

// Create creates the table if it is missing. Any number of processes may do so at once. It changes
// nothing of a table that is there: see [Store.Check].
//
// The error matches [pathlock.ErrUnavailable]. The user needs CREATE.
func (s *Store) Create(ctx context.Context) error { return s.backend.inTime(ctx, s.backend.create) }

// inTime asks the database something within the store's time-out.
func (b *backend) inTime(ctx context.Context, ask func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	switch err := ask(within); {
	case err == nil, errors.Is(err, ErrTables):
		return err
	case within.Err() != nil && ctx.Err() == nil:
		// The time is the store's: no context of the caller has ended.
		return fmt.Errorf("pathlock/sqlstore: %w: no answer in time: %v", pathlock.ErrUnavailable, err) //nolint:errorlint // see above
	default:
		return fmt.Errorf("pathlock/sqlstore: %w: %w", pathlock.ErrUnavailable, err)
	}
}

// create creates the table. IF NOT EXISTS alone fails if two processes run it at once.
func (b *backend) create(ctx context.Context) error {
	err := b.again(ctx, func(conn *sql.Conn) error {
		_, err := b.table.on(conn).changed(ctx, b.table.database.table)
		return err
	})
	if err != nil {
		return fmt.Errorf("creating the table: %w", err)
	}
	return nil
}

// Check reports what is wrong with the table, or with the rights to use it. It writes into it as
// updates do, and undoes that.
//
// The error matches [ErrNoTable] if the table is missing, [ErrTables] if a column is, and
// [pathlock.ErrUnavailable] if the database cannot be asked, or refuses to write.
func (s *Store) Check(ctx context.Context) error { return s.backend.inTime(ctx, s.backend.check) }

func (b *backend) check(ctx context.Context) error {
	err := b.again(ctx, func(conn *sql.Conn) error { return b.rehearse(ctx, conn) })
	if err == nil {
		return nil
	}
	switch b.table.is(err) {
	case noTable:
		return fmt.Errorf("%w %s: %w", ErrNoTable, b.table.name, err)
	case noColumn:
		return fmt.Errorf("%w: %s: %w", ErrTables, b.table.name, err)
	default:
		return err
	}
}

// checkNamespace begins the names of trees that exist within a check only.
const checkNamespace = "check "

// rehearse writes and deletes as updates do, in a tree that nobody has, and undoes it.
func (b *backend) rehearse(ctx context.Context, conn *sql.Conn) error {
	name := checkNamespace + newHome()
	tree, err := pathlock.NewTree(name, name)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	table := b.table.on(tx)
	for range 2 {
		r, err := table.read(ctx, tree)
		if err != nil {
			return err
		}
		if _, err := table.write(ctx, r, ticketstore.List{}, 1, nil); err != nil {
			return err
		}
	}
	key := keyOf(tree)
	_, err = table.changed(ctx, "DELETE FROM {table} WHERE tree = ?", key[:])
	return err
}
