package sqlopen

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/ncruces/go-sqlite3"
	sqlite "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/vfs"
)

// sameFile opens connections that are dropped when the file at their path is gone, or is another
// than the one that they have open. The next connection opens, or makes, the file that is at the
// path then. So two processes lock in different files until their next use of a connection at most,
// and a renewal is one.
type sameFile struct{ driver.Connector }

// Connect implements [driver.Connector].
func (f sameFile) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("sqlopen: a connection of another driver"), conn.Close())
	}
	handle, err := c.Raw().FileControl("main", sqlite3.FCNTL_FILE_POINTER)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if wrapped, ok := handle.(vfs.FileUnwrap); ok {
		handle = wrapped.Unwrap()
	}
	file, ok := handle.(vfs.FileHasMoved)
	if !ok {
		return nil, errors.Join(errors.New("sqlopen: a file that cannot tell whether it was removed"), c.Close())
	}
	return &fileConn{c, file}, nil
}

// sqliteConn is what a connection of the driver can do.
type sqliteConn interface {
	sqlite.Conn
	driver.ExecerContext
	driver.NamedValueChecker
}

// fileConn is a connection that knows its file.
type fileConn struct {
	sqliteConn
	file vfs.FileHasMoved
}

// ResetSession implements [driver.SessionResetter]: database/sql calls it before it uses a
// connection again.
func (c *fileConn) ResetSession(context.Context) error {
	if moved, err := c.file.HasMoved(); err != nil || moved {
		return driver.ErrBadConn
	}
	return nil
}
