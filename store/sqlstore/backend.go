package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// backend is the [ticketstore.Backend] in a table.
type backend struct {
	config
	db    *sql.DB
	table table
	// home names this process, in tickets and as a channel of PostgreSQL.
	home    string
	watcher *watcher
	// life ends with Close, which waits for the goroutines that are running then.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup
}

var _ ticketstore.Backend = (*backend)(nil)

// Update implements [ticketstore.Backend].
func (b *backend) Update(ctx context.Context, tree pathlock.Tree, _ bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	return b.once(ctx, func(conn *sql.Conn) (bool, error) {
		table := b.table.on(conn)
		r, err := table.read(ctx, tree)
		if err != nil {
			return false, err
		}
		c := change(b.state(r))
		if c.Empty() {
			return true, nil
		}
		var told []message
		for _, t := range c.Woken {
			told = append(told, message{t.Home, keyOf(tree), t.Place})
		}
		for i := range c.Put {
			if c.Put[i].Key == "" {
				c.Put[i].Home = b.home
			}
		}
		next := r.tickets.With(c)
		written, err := table.write(ctx, r, next, c.Fence, told)
		if written {
			b.watcher.wake(told...)
		}
		return written, err
	})
}

// Reserve makes the version negative until the next update: see [ticketstore.New].
func (b *backend) Reserve(ctx context.Context, tree pathlock.Tree) error {
	key := keyOf(tree)
	_, err := b.table.changed(ctx, "UPDATE {table} SET version = -ABS(version) WHERE tree = ?", key[:])
	return err
}

// once does something in one session, and reports whether it is done, or has to be done again. A
// store that makes tables makes a missing one again, for example after a failover to an empty
// server: then nobody holds anything.
func (b *backend) once(ctx context.Context, do func(*sql.Conn) (done bool, err error)) (done bool, err error) {
	done, err = b.inSession(ctx, do)
	switch {
	case err == nil:
		return done, nil
	case b.table.is(err) == busy, b.table.is(err) == duplicate:
		return false, nil
	case b.makesTables && b.table.is(err) == noTable:
		return false, b.create(ctx)
	default:
		return false, b.advised(err)
	}
}

// again repeats something until it is done, after random pauses.
func (b *backend) again(ctx context.Context, do func(*sql.Conn) error) error {
	for {
		done, err := b.once(ctx, func(conn *sql.Conn) (bool, error) { return true, do(conn) })
		if done || err != nil {
			return err
		}
		select {
		case <-time.After(rand.N(5 * time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// inSession runs statements in one session of the pool. A session that was broken before, breaks
// while it reads, or only reads, as after a failover, is closed, and another one runs the
// statements. The last try gets a new session.
func (b *backend) inSession(ctx context.Context, do func(*sql.Conn) (done bool, err error)) (bool, error) {
	for left := b.db.Stats().OpenConnections + 1; ; left-- {
		conn, err := b.db.Conn(ctx)
		if err != nil {
			return false, err
		}
		done, err := do(conn)
		stale := errors.Is(err, errReadOnly) || b.table.Classify(err) == dialect.FailureReadOnly
		if stale {
			dialect.Discard(conn)
		}
		_ = conn.Close() // do has its answer
		lost := errors.Is(err, driver.ErrBadConn) || ctx.Err() == nil && b.table.lostRead(err)
		if !stale && !lost || left == 0 {
			return done, err
		}
	}
}

// Trees implements [ticketstore.Backend].
func (b *backend) Trees(ctx context.Context) (trees []pathlock.Tree, err error) {
	err = b.again(ctx, func(conn *sql.Conn) (err error) {
		trees, err = b.table.on(conn).trees(ctx)
		return reading(err)
	})
	return trees, err
}

func (t table) trees(ctx context.Context) (trees []pathlock.Tree, err error) {
	rows, err := t.QueryContext(ctx, t.text("SELECT namespace, id FROM {table} WHERE ends > {now}"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var namespace, id string
		if err := rows.Scan(&namespace, &id); err != nil {
			return nil, err
		}
		tree, err := pathlock.NewTree(namespace, id)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, rows.Err()
}

// Watch implements [ticketstore.Backend]. Every deletion comes from an update, so the ticket before
// does not matter.
func (b *backend) Watch(ctx context.Context, tree pathlock.Tree, ticket, _ ticketstore.Ticket) {
	ctx, wake := context.WithCancel(ctx)
	defer wake()
	defer b.watcher.watch(keyOf(tree), &watch{ticket.Place, ticket.Looks, wake})()
	<-ctx.Done()
}

// Limit implements [ticketstore.Backend].
func (b *backend) Limit() int { return 0 }

// Ping implements [ticketstore.Backend]: it reads the table and, where users may lack the right to
// write, asks for a write that changes nothing.
func (b *backend) Ping(ctx context.Context) error {
	return b.again(ctx, func(conn *sql.Conn) error {
		table := b.table.on(conn)
		_, err := table.read(ctx, pathlock.Tree{})
		if err == nil && table.clock != "" { // a server's
			_, err = table.changed(ctx, "UPDATE {table} SET fence = fence WHERE tree = ''")
		}
		return err
	})
}

// Close ends what the store has started, and the pool if [WithClosePool] says so.
func (b *backend) Close() error {
	b.end()
	b.running.Wait()
	if b.closesPool {
		return b.db.Close()
	}
	return nil
}

// Sweep removes the rows of trees in which everything has ended a while ago: see [ticketstore.New].
func (b *backend) Sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	old := fmt.Sprintf("ends < {now} - %d", b.keep.Microseconds())
	for {
		n, err := b.table.changed(ctx, strings.ReplaceAll(b.table.sweep, "{old}", old), b.sweepPortion)
		if err != nil || n < b.sweepPortion {
			return err
		}
	}
}

// advised returns an error of the database with advice on what to do.
func (b *backend) advised(err error) error {
	is := b.table.is(err)
	hint := hints[is]
	if is == readOnly {
		hint = b.table.toWrite
	}
	if hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}
