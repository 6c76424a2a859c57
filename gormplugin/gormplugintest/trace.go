package gormplugintest

import (
	"context"
	"database/sql/driver"
	"strings"
	"sync"

	"github.com/pathlock-go/pathlock"
)

// trace records, in the order in which they happened, when transactions began and
// had really ended, and when locks were granted and released. What ended them is seen at the
// driver, below everything that could say so too early.
type trace struct {
	mu     sync.Mutex
	events []string
	// onCommit, if set, is called in the place of the driver's next commit.
	onCommit func(commit func() error) error
}

func (tr *trace) note(event string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, event)
}

func (tr *trace) reset() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = nil
}

// String returns the events since the last reset.
func (tr *trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.events, " ")
}

// observer returns the part that sees the locks.
func (tr *trace) observer() pathlock.Observer { return lockTrace{tr: tr} }

type lockTrace struct {
	pathlock.NopObserver
	tr *trace
}

// Granted implements [pathlock.Observer]; what costs no round trip is not told.
func (l lockTrace) Granted(_ context.Context, e pathlock.Event) {
	if !e.Reentrant {
		l.tr.note("grant")
	}
}

// Released implements [pathlock.Observer].
func (l lockTrace) Released(_ context.Context, e pathlock.Event) {
	if !e.Reentrant {
		l.tr.note("release")
	}
}

// connector returns the part that sees the connections.
func (tr *trace) connector(inner driver.Connector) driver.Connector {
	return tracedConnector{inner, tr}
}

type tracedConnector struct {
	driver.Connector
	tr *trace
}

// Connect implements [driver.Connector].
func (c tracedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tracedConn{conn, c.tr}, nil
}

// tracedConn passes everything on. Where the driver lacks an optional method, it answers as database/sql
// expects of one that does.
type tracedConn struct {
	driver.Conn
	tr *trace
}

// BeginTx implements [driver.ConnBeginTx].
func (c *tracedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.tr.note("begin")
	return tracedTx{tx, c.tr}, nil
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *tracedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	return c.Prepare(query)
}

// ExecContext implements [driver.ExecerContext].
func (c *tracedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// QueryContext implements [driver.QueryerContext].
func (c *tracedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.Conn.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// Ping implements [driver.Pinger].
func (c *tracedConn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ResetSession implements [driver.SessionResetter].
func (c *tracedConn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements [driver.Validator].
func (c *tracedConn) IsValid() bool {
	if v, ok := c.Conn.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (c *tracedConn) CheckNamedValue(value *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// tracedTx says when the end has come, after it has.
type tracedTx struct {
	driver.Tx
	tr *trace
}

// Commit implements [driver.Tx].
func (t tracedTx) Commit() error {
	t.tr.mu.Lock()
	instead := t.tr.onCommit
	t.tr.onCommit = nil
	t.tr.mu.Unlock()
	commit := t.Tx.Commit
	if instead != nil {
		commit = func() error { return instead(t.Tx.Commit) }
	}
	err := commit()
	t.tr.note("commit")
	return err
}

// Rollback implements [driver.Tx].
func (t tracedTx) Rollback() error {
	err := t.Tx.Rollback()
	t.tr.note("rollback")
	return err
}
