package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// sqlite is the engine for SQLite. Every update is a transaction that is alone with the whole file.
// Those of one process wait for each other here, and not in SQLite, which waits by sleeping.
type sqlite struct {
	db *sql.DB
	prefix
	turn chan struct{}
}

func newSQLite(db *sql.DB, p prefix) *sqlite {
	return &sqlite{db: db, prefix: p, turn: make(chan struct{}, 1)}
}

func (s *sqlite) read(ctx context.Context, key treeKey, k *known) (image, error) {
	began := time.Now()
	r, err := s.query(ctx, "sqlite_read", k.version, key[:])
	if err != nil {
		return image{}, err
	}
	img, err := scanImage(r, began, k)
	img.now = micros(began)
	return img, err
}

func (s *sqlite) query(ctx context.Context, name string, args ...any) (*rows, error) {
	r, err := s.db.QueryContext(ctx, s.text(name), args...) //nolint:rowserrcheck,sqlclosecheck // The caller does.
	if err != nil {
		return nil, err
	}
	return &rows{Rows: r}, nil
}

func (s *sqlite) exec(ctx context.Context, name string, args ...any) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	return patiently(ctx, func() error {
		_, err := s.db.ExecContext(ctx, s.text(name), args...)
		return err
	})
}

// clock is the process's: all processes are on one host.
func (s *sqlite) clock(context.Context) (int64, error) { return micros(time.Now()), nil }

func (s *sqlite) swap() func(context.Context, *change) error { return nil }

// enter waits until no other goroutine writes.
func (s *sqlite) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sqlite) leave() { <-s.turn }

// sqliteLocked is a transaction that has locked the file.
type sqliteLocked struct {
	engine *sqlite
	conn   *sql.Conn
	id     identity
	over   bool
}

func (s *sqlite) lock(ctx context.Context, id identity) (locked, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		s.leave()
		return nil, err
	}
	l := &sqliteLocked{engine: s, conn: conn, id: id}
	err = patiently(ctx, func() error {
		_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
		return err
	})
	if err != nil {
		release(conn)
		s.leave()
		return nil, err
	}
	return l, nil
}

// patiently tries until the file is free. SQLite itself waits longer and longer, and for longer
// than newcomers do.
func patiently(ctx context.Context, try func() error) error {
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 3*time.Millisecond) {
		err := try()
		if err == nil || !sqliteBusy(err) {
			return err
		}
		timer := time.NewTimer(rand.N(pause) + pause/2)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}

func (l *sqliteLocked) read(ctx context.Context, k *known) (image, error) {
	began := time.Now()
	r, err := l.conn.QueryContext(ctx, l.engine.text("sqlite_read"), k.version, l.id.key[:]) //nolint:rowserrcheck,sqlclosecheck // scanImage does.
	if err != nil {
		return image{}, err
	}
	img, err := scanImage(&rows{Rows: r}, began, k)
	img.now = micros(began)
	return img, err
}

func (l *sqliteLocked) write(ctx context.Context, c *change) error {
	if err := l.rehearse(ctx, c); err != nil {
		return err
	}
	// Without a write-ahead log, it waits for those who read.
	err := patiently(ctx, func() error {
		_, err := l.conn.ExecContext(ctx, "COMMIT")
		return err
	})
	l.over = err == nil
	return err
}

func (l *sqliteLocked) rehearse(ctx context.Context, changes ...*change) error {
	exec := func(name string, args ...any) error {
		_, err := l.conn.ExecContext(ctx, l.engine.text(name), args...)
		return err
	}
	for _, c := range changes {
		var err error
		if c.exists {
			err = exec("tree_change", c.version, c.fence, c.now, c.key[:], c.from)
		} else {
			err = exec("tree_put", c.key[:], []byte(c.tree.Namespace()), []byte(c.tree.ID()), c.version, c.fence, c.now)
		}
		for i := 0; err == nil && i < len(c.gone); i++ {
			err = exec("sqlite_ticket_delete", c.key[:], c.gone[i])
		}
		for i := 0; err == nil && i < len(c.put); i++ {
			t := &c.put[i]
			home := sql.NullString{String: t.home, Valid: t.home != ""}
			err = exec("sqlite_ticket_put", c.key[:], t.place, c.version, t.state, t.looks, home, t.ends, t.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *sqliteLocked) close() {
	if l.over {
		release(l.conn)
	} else {
		release(l.conn, "ROLLBACK")
	}
	l.engine.leave()
}

// sqliteSays looks for a message of SQLite in an error. Every driver passes the messages on, but
// each has an error type of its own.
func sqliteSays(err error, messages ...string) bool {
	for _, m := range messages {
		if strings.Contains(err.Error(), m) {
			return true
		}
	}
	return false
}

func sqliteBusy(err error) bool {
	return sqliteSays(err, "database is locked", "database table is locked", "SQLITE_BUSY")
}

func (s *sqlite) again(err error) bool { return sqliteBusy(err) }

func (s *sqlite) advice(err error) string {
	switch {
	case sqliteSays(err, "no such table", "no such column", "has no column"):
		return "create the tables by Store.Create"
	case sqliteSays(err, "readonly database"):
		return "the process has to be able to write the file and its folder"
	}
	return ""
}
