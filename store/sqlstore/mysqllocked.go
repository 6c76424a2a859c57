package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// mysqlLocked is a transaction that has locked the row of a tree.
type mysqlLocked struct {
	engine *mysqlEngine
	conn   *sql.Conn
	key    treeKey
	over   bool
}

func (m *mysqlEngine) lock(ctx context.Context, id identity) (locked, error) {
	if err := m.learn(ctx); err != nil {
		return nil, err
	}
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	l := &mysqlLocked{engine: m, conn: conn, key: id.key}
	if _, err = m.run(ctx, conn, m.begin(false)); err == nil {
		err = l.lockRow(ctx, id)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// lockRow locks the tree's row, and puts it first where there is none. An INSERT that finds the row
// shares its lock with others who do the same, and none of them could go on.
func (l *mysqlLocked) lockRow(ctx context.Context, id identity) error {
	m, version := l.engine, int64(0)
	lock := filled(m.text("mysql_lock"), id.key[:])
	err := l.conn.QueryRowContext(ctx, lock).Scan(&version)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, err := l.conn.ExecContext(ctx, filled(m.text("mysql_lock_put"), id.key[:], []byte(id.namespace), []byte(id.id))); err != nil {
		return err
	}
	return l.conn.QueryRowContext(ctx, lock).Scan(&version)
}

func (l *mysqlLocked) read(ctx context.Context, k *known) (image, error) {
	began := time.Now()
	r, err := l.conn.QueryContext(ctx, filled(l.engine.text("mysql_read"), k.version, l.key[:])) //nolint:rowserrcheck,sqlclosecheck // scanImage does.
	if err != nil {
		return image{}, err
	}
	return scanImage(&rows{Rows: r}, began, k)
}

func (l *mysqlLocked) write(ctx context.Context, c *change) error {
	if _, err := l.engine.run(ctx, l.conn, append(l.engine.writes(c), l.engine.end("COMMIT", false)...)); err != nil {
		return faster(err)
	}
	l.over = true
	return nil
}

func (l *mysqlLocked) rehearse(ctx context.Context, changes ...*change) error {
	for _, c := range changes {
		if _, err := l.engine.run(ctx, l.conn, l.engine.writes(c)); err != nil {
			return err
		}
	}
	return nil
}

func (l *mysqlLocked) close() {
	if l.over {
		release(l.conn)
	} else {
		release(l.conn, l.engine.end("ROLLBACK", false)...)
	}
}
