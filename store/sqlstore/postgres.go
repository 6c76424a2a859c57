package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// postgres is the engine for PostgreSQL. An update is two statements, each in a transaction of its
// own: one reads, and one writes if nobody was faster.
type postgres struct {
	db *sql.DB
	prefix
	// careful says that single statements may not write, because transactions are read-only unless
	// they say otherwise.
	careful atomic.Bool
}

// idleTransaction is how long a process may do nothing while it is alone with a tree. A server ends
// its session then, because the process may have been stopped.
const idleTransaction = 5 * time.Second

func (p *postgres) read(ctx context.Context, key treeKey, k *known) (image, error) {
	began := time.Now()
	r, err := p.query(ctx, "postgres_read", k.version, key[:])
	if err != nil {
		return image{}, err
	}
	return scanImage(r, began, k)
}

func (p *postgres) query(ctx context.Context, name string, args ...any) (*rows, error) {
	r, err := p.db.QueryContext(ctx, numbered(p.text(name)), args...) //nolint:rowserrcheck,sqlclosecheck // The caller does.
	if err != nil {
		return nil, err
	}
	return &rows{Rows: r}, nil
}

func (p *postgres) exec(ctx context.Context, name string, args ...any) error {
	_, err := p.db.ExecContext(ctx, numbered(p.text(name)), args...)
	return err
}

func (p *postgres) clock(ctx context.Context) (int64, error) {
	r, err := p.query(ctx, "postgres_clock")
	if err != nil {
		return 0, err
	}
	return count(r)
}

// querier is a pool, or one of its connections.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (p *postgres) swap() func(context.Context, *change) error {
	if p.careful.Load() {
		return nil
	}
	return func(ctx context.Context, c *change) error {
		err := p.write(ctx, p.db, c)
		if err != nil && sqlState(err) == readOnlyTransaction {
			// The next try says that it writes. A server that cannot write refuses that, too.
			p.careful.Store(true)
			return errFaster
		}
		return err
	}
}

// write is the one statement of an update.
func (p *postgres) write(ctx context.Context, q querier, c *change) (err error) {
	name, second := "postgres_swap", any(c.from)
	if !c.exists {
		name, second = "postgres_swap_first", []byte(c.tree.Namespace())
	}
	var places, states, looks, homes, ends, texts strings.Builder
	for i, t := range c.put {
		for _, b := range []*strings.Builder{&places, &states, &looks, &homes, &ends, &texts} {
			if i == 0 {
				b.WriteByte('{')
			} else {
				b.WriteByte(',')
			}
		}
		writeNumber(&places, t.place)
		writeNumber(&states, t.state)
		writeNumber(&looks, t.looks)
		writeNumber(&ends, t.ends)
		writeName(&homes, t.home)
		writeBytes(&texts, t.text)
	}
	list := func(b *strings.Builder) string {
		if b.Len() == 0 {
			return "{}"
		}
		return b.String() + "}"
	}
	args := []any{
		c.key[:], second, c.version, c.fence, c.now,
		array(c.gone, writeNumber[int64]),
		list(&places), list(&states), list(&looks), list(&homes), list(&ends), list(&texts),
		array(c.messages, func(b *strings.Builder, m message) { writeName(b, m.home) }),
		array(c.messages, func(b *strings.Builder, m message) { writeName(b, m.ticket.String()) }),
	}
	if !c.exists {
		args = append(args, []byte(c.tree.ID()))
	}
	r, err := q.QueryContext(ctx, p.text(name), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Next() {
		return r.Err()
	}
	return cmp.Or(r.Err(), errFaster)
}

// postgresLocked is a transaction that has locked the row of a tree.
type postgresLocked struct {
	engine *postgres
	conn   *sql.Conn
	key    treeKey
	over   bool
}

func (p *postgres) lock(ctx context.Context, id identity) (locked, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	l := &postgresLocked{engine: p, conn: conn, key: id.key}
	begin := "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL idle_in_transaction_session_timeout = " +
		strconv.FormatInt(idleTransaction.Milliseconds(), 10)
	_, err = conn.ExecContext(ctx, begin)
	if err == nil {
		_, err = conn.ExecContext(ctx, numbered(p.text("postgres_lock_put")), id.key[:], []byte(id.namespace), []byte(id.id))
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, numbered(p.text("postgres_lock")), id.key[:])
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *postgresLocked) read(ctx context.Context, k *known) (image, error) {
	began := time.Now()
	r, err := l.conn.QueryContext(ctx, numbered(l.engine.text("postgres_read")), k.version, l.key[:]) //nolint:rowserrcheck,sqlclosecheck // scanImage does.
	if err != nil {
		return image{}, err
	}
	return scanImage(&rows{Rows: r}, began, k)
}

func (l *postgresLocked) write(ctx context.Context, c *change) error {
	if err := l.engine.write(ctx, l.conn, c); err != nil {
		return err
	}
	if _, err := l.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	l.over = true
	return nil
}

func (l *postgresLocked) rehearse(ctx context.Context, changes ...*change) error {
	for _, c := range changes {
		if err := l.engine.write(ctx, l.conn, c); err != nil {
			return err
		}
	}
	return nil
}

func (l *postgresLocked) close() {
	if l.over {
		release(l.conn)
	} else {
		release(l.conn, "ROLLBACK")
	}
}

// sqlState returns the SQLSTATE of an error that a server of PostgreSQL has answered, "" for any
// other error. The errors of pgx and of lib/pq have the method.
func sqlState(err error) string {
	type stateError interface {
		error
		SQLState() string
	}
	if e, ok := errors.AsType[stateError](err); ok {
		return e.SQLState()
	}
	return ""
}

// readOnlyTransaction is the SQLSTATE of a write where none is allowed.
const readOnlyTransaction = "25006"

func (p *postgres) again(err error) bool {
	switch sqlState(err) {
	case "40001", // the transactions cannot be put in an order
		"40P01", // a deadlock
		"55P03", // lock_not_available, after lock_timeout
		"23505": // somebody else has just put the tree's first row
		return true
	}
	return false
}

func (p *postgres) missing(err error) bool { return sqlState(err) == "42P01" }

func (p *postgres) close() {}

func (p *postgres) advice(err error) string {
	switch sqlState(err) {
	case "42P01", "42703":
		return adviceTables
	case readOnlyTransaction:
		return "a standby cannot serve: name the primary"
	case "42501":
		return "the user needs SELECT, INSERT, UPDATE and DELETE on both tables"
	}
	return ""
}
