package requests

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
)

// Connector counts the statements of a database's connections, those that begin and end
// transactions included. It is for databases that have no line, such as SQLite. Its connections
// offer the statements with contexts, and nothing else that a driver may.
type Connector struct {
	driver.Connector
	count atomic.Int64
}

// Count is how many statements there were.
func (c *Connector) Count() int64 { return c.count.Load() }

// Connect implements [driver.Connector].
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &counted{conn, &c.count}, nil
}

type counted struct {
	driver.Conn
	count *atomic.Int64
}

func (c *counted) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	conn, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	result, err := conn.ExecContext(ctx, query, args)
	if !errors.Is(err, driver.ErrSkip) {
		c.count.Add(1)
	}
	return result, err
}

func (c *counted) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	conn, ok := c.Conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, errors.New("the driver prepares nothing under a context")
	}
	stmt, err := conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &countedStmt{stmt, c.count}, nil
}

func (c *counted) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	conn, ok := c.Conn.(driver.ConnBeginTx)
	if !ok {
		return nil, errors.New("the driver begins no transactions under a context")
	}
	c.count.Add(1)
	tx, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &countedTx{tx, c.count}, nil
}

type countedStmt struct {
	driver.Stmt
	count *atomic.Int64
}

func (s *countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	stmt, ok := s.Stmt.(driver.StmtExecContext)
	if !ok {
		return nil, errors.New("the driver executes nothing under a context")
	}
	s.count.Add(1)
	return stmt.ExecContext(ctx, args)
}

func (s *countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	stmt, ok := s.Stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.New("the driver asks nothing under a context")
	}
	s.count.Add(1)
	return stmt.QueryContext(ctx, args)
}

type countedTx struct {
	driver.Tx
	count *atomic.Int64
}

func (t *countedTx) Commit() error   { t.count.Add(1); return t.Tx.Commit() }
func (t *countedTx) Rollback() error { t.count.Add(1); return t.Tx.Rollback() }
