package fsck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
)

// padding is the mode in which MySQL pads a CHAR column to its length wherever it is read. Keys,
// names and paths would all be other ones.
const padding = "PAD_CHAR_TO_FULL_LENGTH"

// connect returns a connection that reads columns as they are, and what gives it back as it was.
func (c *catalogue) connect(ctx context.Context) (conn *sql.Conn, giveBack func(), err error) {
	if conn, err = c.db.Conn(ctx); err != nil {
		return nil, nil, err
	}
	plain := func() { _ = conn.Close() }
	if !c.pads {
		return conn, plain, nil
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "SELECT @@SESSION.sql_mode").Scan(&mode); err != nil {
		plain()
		return nil, nil, err
	}
	modes := strings.Split(mode, ",")
	if !slices.Contains(modes, padding) {
		return conn, plain, nil
	}
	set := func(ctx context.Context, mode string) error {
		_, err := conn.ExecContext(ctx, "SET SESSION sql_mode = ?", mode)
		return err
	}
	giveBack = func() {
		if set(context.WithoutCancel(ctx), mode) != nil {
			discard(conn)
		}
		plain()
	}
	others := slices.DeleteFunc(modes, func(m string) bool { return m == padding })
	if err := set(ctx, strings.Join(others, ",")); err != nil {
		giveBack()
		return nil, nil, err
	}
	return conn, giveBack, nil
}

// discard sees to it that nobody else gets a connection that is not as it was.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}
