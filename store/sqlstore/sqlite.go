package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// sqlite is the engine for SQLite. Every update is a transaction that is alone with the whole file.
// Those of one process wait for each other here, and not in SQLite, which waits by sleeping.
//
// Statements are prepared once for each connection, since SQLite takes longer to parse than to run
// them.
type sqlite struct {
	db *sql.DB
	prefix
	turn chan struct{}

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func newSQLite(db *sql.DB, p prefix) *sqlite {
	return &sqlite{db: db, prefix: p, turn: make(chan struct{}, 1), prepared: make(map[string]*sql.Stmt)}
}

// statement returns a prepared statement. The first time, it takes a connection for a moment, which
// somebody may have who waits for a statement: so nobody waits for those who prepare.
func (s *sqlite) statement(ctx context.Context, name string) (*sql.Stmt, error) {
	s.mu.Lock()
	stmt := s.prepared[name]
	s.mu.Unlock()
	if stmt != nil {
		return stmt, nil
	}
	// It reads the schema, for which a file whose write-ahead log is being switched on is locked.
	err := patiently(ctx, func() (err error) {
		stmt, err = s.db.PrepareContext(ctx, s.text(name)) //nolint:sqlclosecheck // close does.
		return err
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.prepared[name]; first != nil {
		_ = stmt.Close() //nolint:sqlclosecheck // Only the one that is not kept.
		return first, nil
	}
	s.prepared[name] = stmt
	return stmt, nil
}

// close gives the statements back.
func (s *sqlite) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, stmt := range s.prepared {
		_ = stmt.Close()
		delete(s.prepared, name)
	}
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
	stmt, err := s.statement(ctx, name) //nolint:sqlclosecheck // close does.
	if err != nil {
		return nil, err
	}
	r, err := stmt.QueryContext(ctx, args...) //nolint:rowserrcheck,sqlclosecheck // The caller does.
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
	tx     *sql.Tx
	id     identity
}

// writing are the statements of a transaction.
var writing = []string{
	"sqlite_lock", "sqlite_read", "tree_put", "tree_change", "sqlite_ticket_put", "sqlite_ticket_delete",
}

func (s *sqlite) lock(ctx context.Context, id identity) (locked, error) {
	// The transaction may have the pool's only connection.
	for _, name := range writing {
		if _, err := s.statement(ctx, name); err != nil { //nolint:sqlclosecheck // close does.
			return nil, err
		}
	}
	return s.begin(ctx, id, func(l *sqliteLocked) error { return l.exec(ctx, "sqlite_lock", id.key[:]) })
}

// begin begins a transaction whose first statement writes.
func (s *sqlite) begin(ctx context.Context, id identity, first func(*sqliteLocked) error) (*sqliteLocked, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	l := &sqliteLocked{engine: s, id: id}
	err := patiently(ctx, func() (err error) {
		if l.tx, err = s.db.BeginTx(ctx, nil); err != nil {
			return err
		}
		if err = first(l); err != nil {
			_ = l.tx.Rollback()
		}
		return err
	})
	if err != nil {
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

func (l *sqliteLocked) exec(ctx context.Context, name string, args ...any) error {
	stmt, err := l.engine.statement(ctx, name)
	if err != nil {
		return err
	}
	_, err = l.tx.StmtContext(ctx, stmt).ExecContext(ctx, args...) //nolint:sqlclosecheck // The end of the transaction does.
	return err
}

func (l *sqliteLocked) read(ctx context.Context, k *known) (image, error) {
	stmt, err := l.engine.statement(ctx, "sqlite_read")
	if err != nil {
		return image{}, err
	}
	began := time.Now()
	r, err := l.tx.StmtContext(ctx, stmt).QueryContext(ctx, k.version, l.id.key[:]) //nolint:rowserrcheck,sqlclosecheck // scanImage does.
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
	return l.commit(ctx)
}

// commit commits. Without a write-ahead log, it waits for those who read: a Commit of database/sql
// would give up at once.
func (l *sqliteLocked) commit(ctx context.Context) error {
	return patiently(ctx, func() error {
		_, err := l.tx.ExecContext(ctx, "COMMIT")
		return err
	})
}

func (l *sqliteLocked) rehearse(ctx context.Context, changes ...*change) error {
	for _, c := range changes {
		var err error
		if c.exists {
			err = l.exec(ctx, "tree_change", c.version, c.fence, c.now, c.key[:], c.from)
		} else {
			err = l.exec(ctx, "tree_put", c.key[:], []byte(c.tree.Namespace()), []byte(c.tree.ID()), c.version, c.fence, c.now)
		}
		for i := 0; err == nil && i < len(c.gone); i++ {
			err = l.exec(ctx, "sqlite_ticket_delete", c.key[:], c.gone[i])
		}
		for i := 0; err == nil && i < len(c.put); i++ {
			t := &c.put[i]
			home := sql.NullString{String: t.home, Valid: t.home != ""}
			err = l.exec(ctx, "sqlite_ticket_put", c.key[:], t.place, c.version, t.state, t.looks, home, t.ends, t.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *sqliteLocked) close() {
	// After a commit, it fails, and gives the connection back all the same.
	_ = l.tx.Rollback()
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

func (s *sqlite) missing(err error) bool { return sqliteSays(err, "no such table") }

func (s *sqlite) advice(err error) string {
	switch {
	case sqliteSays(err, "no such table", "no such column", "has no column"):
		return adviceTables
	case sqliteSays(err, "readonly database"):
		return "the process has to be able to write the file and its folder"
	}
	return ""
}
