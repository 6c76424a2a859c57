package sqlstore

import (
	"context"
	"database/sql"
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
	// closing is how long it may take to close the connection.
	closing = 2 * time.Second
)

// newListener returns a listener, nil if nothing says how to connect: the pool's driver is not pgx.
func newListener(b *backend) *listener {
	if b.listener != nil {
		return &listener{b, b.listener}
	}
	if _, isPgx := b.db.Driver().(*stdlib.Driver); !isPgx {
		return nil
	}
	return &listener{b, func(ctx context.Context) (*pgx.Conn, error) { return connectAs(ctx, b.db) }}
}

// connectAs connects as the connections of a pool do.
func connectAs(ctx context.Context, db *sql.DB) (*pgx.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var config *pgx.ConnConfig
	err = conn.Raw(func(c any) error {
		one, isPgx := c.(*stdlib.Conn)
		if !isPgx {
			return fmt.Errorf("%w: the connection is a %T", errDeaf, c)
		}
		config = one.Conn().Config()
		config.OnNotification = nil // it is that connection's
		return nil
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config)
}

// run listens until ctx ends.
func (l *listener) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := l.once(ctx)
		l.backend.watcher.hears(false)
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
func (l *listener) once(ctx context.Context) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.backend.home}.Sanitize()); err != nil {
		return err
	}
	if err := l.prove(ctx, conn); err != nil {
		return err
	}
	l.backend.watcher.hears(true)
	for {
		n, err := wait(ctx, conn, pulse)
		if err != nil && pgconn.Timeout(err) && !conn.IsClosed() {
			if err := ping(ctx, conn); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if m, ok := parsePayload(n.Channel, n.Payload); ok {
			l.backend.watcher.wake(m)
		}
	}
}

// prove sends a notification by another connection, and waits until it arrives.
func (l *listener) prove(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, proof)
	defer cancel()
	if _, err := l.backend.db.ExecContext(ctx, "SELECT pg_notify($1, '')", l.backend.home); err != nil {
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

// wait waits for a notification.
func wait(ctx context.Context, conn *pgx.Conn, d time.Duration) (*pgconn.Notification, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return conn.WaitForNotification(ctx)
}

// ping requires that the server answers.
func ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, proof)
	defer cancel()
	return conn.Ping(ctx)
}
