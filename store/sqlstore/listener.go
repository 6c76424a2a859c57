package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// listener hears the notifications of PostgreSQL on one connection for the whole process.
type listener struct {
	backend *backend
	db      *sql.DB
	connect func(context.Context) (*pgx.Conn, error)
}

// errDeaf says that a notification did not arrive, as behind a pgbouncer in transaction mode.
var errDeaf = errors.New("notifications do not arrive")

const (
	// proof is how long a notification may take that the process sends to itself.
	proof = 3 * time.Second
	// pulse is how long the listener goes without hearing anything before it asks whether the
	// connection still is one.
	pulse = 10 * time.Second
	// relisten and relistenDeaf are how long it waits before it listens again, the latter where
	// there is a connection that passes no notifications on.
	relisten     = time.Second
	relistenDeaf = time.Minute
)

// newListener returns a listener, nil if the pool has no connection for it: its driver is not pgx,
// or it has only one.
func newListener(b *backend, db *sql.DB) *listener {
	if b.listener == nil {
		if _, isPgx := db.Driver().(*stdlib.Driver); !isPgx || db.Stats().MaxOpenConnections == 1 {
			return nil
		}
	}
	return &listener{backend: b, db: db, connect: b.listener}
}

// run listens until ctx ends.
func (l *listener) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := l.once(ctx)
		l.backend.lookout.hears(false)
		pause := relisten
		if errors.Is(err, errDeaf) {
			pause = relistenDeaf
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// once listens on one connection until that is lost.
func (l *listener) once(ctx context.Context) (err error) {
	if l.connect != nil {
		conn, err := l.connect(ctx)
		if err != nil {
			return err
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), farewell)
			defer cancel()
			_ = conn.Close(ctx)
		}()
		return l.listen(ctx, conn)
	}
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.Raw(func(c any) error {
		c1, isPgx := c.(*stdlib.Conn)
		if !isPgx {
			err = fmt.Errorf("%w: the connection is a %T", errDeaf, c)
			return nil
		}
		err = l.listen(ctx, c1.Conn())
		// The connection listens: it is of no use to others.
		return driver.ErrBadConn
	})
	return err
}

// listen passes notifications on until the connection is lost.
func (l *listener) listen(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.backend.home}.Sanitize()); err != nil {
		return err
	}
	if err := l.prove(ctx, conn); err != nil {
		return err
	}
	l.backend.lookout.hears(true)
	for {
		n, err := l.next(ctx, conn, pulse)
		switch {
		case err == nil:
			l.pass(n)
		case ctx.Err() != nil:
			return ctx.Err()
		case pgconn.Timeout(err) && !conn.IsClosed():
			if err := l.ask(ctx, conn); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// prove sends a notification by another connection, and waits until it arrives.
func (l *listener) prove(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, proof)
	defer cancel()
	// The connection is the listener's alone, so another one has to send.
	if _, err := l.db.ExecContext(ctx, "SELECT pg_notify($1, '')", l.backend.home); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		switch {
		case err != nil && pgconn.Timeout(err):
			return errDeaf
		case err != nil:
			return err
		case n.Payload == "":
			return nil
		}
	}
}

// next waits for a notification.
func (l *listener) next(ctx context.Context, conn *pgx.Conn, d time.Duration) (*pgconn.Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return conn.WaitForNotification(ctx)
}

// ask requires that the server answers.
func (l *listener) ask(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, proof)
	defer cancel()
	return conn.Ping(ctx)
}

// pass wakes those who watch the ticket that a notification names.
func (l *listener) pass(n *pgconn.Notification) {
	if id, ok := parseTicketID(n.Payload); ok && n.Channel == l.backend.home {
		l.backend.lookout.wake(id)
	}
}
