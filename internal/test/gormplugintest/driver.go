package gormplugintest

import (
	"context"
	"database/sql/driver"
	"slices"
)

// connector returns the part of a trace that sees the connections.
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
	return &tracedConn{Conn: conn, tr: c.tr}, nil
}

// tracedConn passes everything on. Where the driver lacks an optional method, it answers as
// database/sql expects of one that does.
type tracedConn struct {
	driver.Conn
	tr      *trace
	dropped bool
	// contexts are those that statements have run under since the connection was last taken from
	// the pool.
	contexts []context.Context
}

// drop closes the connection behind database/sql's back.
func (c *tracedConn) drop() {
	c.dropped = true
	_ = c.Conn.Close()
}

// do passes a call on.
func (c *tracedConn) do(kind string, run func() error) error {
	if c.dropped {
		return driver.ErrBadConn
	}
	return c.tr.do(call{kind: kind, drop: c.drop}, run)
}

// BeginTx implements [driver.ConnBeginTx].
func (c *tracedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	var tx driver.Tx
	begun := false
	err := c.do("begin", func() (err error) {
		// A driver may return a value beside an error.
		if tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts); err == nil {
			begun = true
			c.tr.note("begin")
		}
		return err
	})
	if err != nil {
		if begun {
			_ = tracedTx{tx, c}.Rollback()
		}
		return nil, err
	}
	return tracedTx{tx, c}, nil
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *tracedConn) PrepareContext(ctx context.Context, query string) (stmt driver.Stmt, err error) {
	err = c.do("prepare", func() (err error) {
		stmt, err = c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
		return err
	})
	if err != nil {
		if stmt != nil {
			_ = stmt.Close()
		}
		return nil, err
	}
	return &tracedStmt{stmt, c, query}, nil
}

// ExecContext implements [driver.ExecerContext].
func (c *tracedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	e, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	return c.exec(ctx, query, func() (driver.Result, error) { return e.ExecContext(ctx, query, args) })
}

// exec runs a statement that answers with no rows.
func (c *tracedConn) exec(ctx context.Context, query string, run func() (driver.Result, error)) (result driver.Result, err error) {
	c.contexts = append(c.contexts, ctx)
	err = c.do("exec", func() (err error) {
		if result, err = run(); err == nil {
			c.tr.noteStatement(query)
		}
		return err
	})
	return result, err
}

// QueryContext implements [driver.QueryerContext].
func (c *tracedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (rows driver.Rows, err error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	return c.query(ctx, query, func() (driver.Rows, error) { return q.QueryContext(ctx, query, args) })
}

// query runs one that answers with rows.
func (c *tracedConn) query(ctx context.Context, query string, run func() (driver.Rows, error)) (rows driver.Rows, err error) {
	c.contexts = append(c.contexts, ctx)
	err = c.do("query", func() (err error) {
		if rows, err = run(); err == nil {
			c.tr.noteStatement(query)
		}
		return err
	})
	if err != nil && rows != nil {
		_ = rows.Close()
	}
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Close implements [driver.Conn].
func (c *tracedConn) Close() error {
	if c.dropped {
		return nil
	}
	return c.Conn.Close()
}

// ResetSession implements [driver.SessionResetter].
func (c *tracedConn) ResetSession(ctx context.Context) error {
	c.contexts = nil
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements [driver.Validator]. A connection is not used again once a context has ended
// under which it ran a statement: a driver may be late to interrupt that, and would interrupt
// somebody else's.
func (c *tracedConn) IsValid() bool {
	ended := func(ctx context.Context) bool { return ctx.Err() != nil }
	if c.dropped || slices.ContainsFunc(c.contexts, ended) {
		return false
	}
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

// tracedStmt is a prepared statement.
type tracedStmt struct {
	driver.Stmt
	conn  *tracedConn
	query string
}

// ExecContext implements [driver.StmtExecContext].
func (s *tracedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.exec(ctx, s.query, func() (driver.Result, error) { return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args) })
}

// QueryContext implements [driver.StmtQueryContext].
func (s *tracedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.query(ctx, s.query, func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) })
}

// CheckNamedValue implements [driver.NamedValueChecker].
func (s *tracedStmt) CheckNamedValue(value *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(value)
	}
	return s.conn.CheckNamedValue(value)
}

// tracedTx says when the end has come, after it has.
type tracedTx struct {
	driver.Tx
	conn *tracedConn
}

// Commit implements [driver.Tx].
func (t tracedTx) Commit() error {
	err := driver.ErrBadConn
	if !t.conn.dropped {
		err = t.conn.tr.do(call{kind: "commit", drop: t.conn.drop, abort: func() { _ = t.Tx.Rollback() }}, t.Tx.Commit)
	}
	t.conn.tr.note("commit")
	return err
}

// Rollback implements [driver.Tx].
func (t tracedTx) Rollback() error {
	err := t.conn.do("rollback", t.Tx.Rollback)
	t.conn.tr.note("rollback")
	return err
}
