package databases

import (
	"context"
	"database/sql/driver"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
)

// keeper keeps the connections that pools close, and gives them to the next pool. PostgreSQL forks
// a process for each connection, and tests open hundreds of pools one after the other.
type keeper struct {
	driver.Connector
	mu    sync.Mutex
	conns []*stdlib.Conn
}

// keep returns a connector whose connections last until the end of the test.
func keep(t *testing.T, connector driver.Connector) driver.Connector {
	t.Helper()
	k := &keeper{Connector: connector}
	t.Cleanup(func() {
		for c := k.take(); c != nil; c = k.take() {
			_ = c.Close()
		}
	})
	return k
}

func (k *keeper) take() *stdlib.Conn {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.conns) == 0 {
		return nil
	}
	last := k.conns[len(k.conns)-1]
	k.conns = k.conns[:len(k.conns)-1]
	return last
}

// Connect returns a connection on which nothing is left of its last pool, or a new one.
func (k *keeper) Connect(ctx context.Context) (driver.Conn, error) {
	for c := k.take(); c != nil; c = k.take() {
		if forget(ctx, c) == nil {
			return kept{c, k}, nil
		}
		_ = c.Close()
	}
	c, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return kept{c.(*stdlib.Conn), k}, nil
}

// forget sets a session back to what it was when it began. It fails in a transaction.
func forget(ctx context.Context, c *stdlib.Conn) error {
	if err := c.Conn().DeallocateAll(ctx); err != nil { // which the client remembers too
		return err
	}
	_, err := c.Conn().Exec(ctx, "DISCARD ALL")
	return err
}

// kept is a connection that its keeper gets back.
type kept struct {
	*stdlib.Conn
	by *keeper
}

func (c kept) Close() error {
	if c.Conn.Conn().IsClosed() {
		return c.Conn.Close()
	}
	c.by.mu.Lock()
	defer c.by.mu.Unlock()
	c.by.conns = append(c.by.conns, c.Conn)
	return nil
}
