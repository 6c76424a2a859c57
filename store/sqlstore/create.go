package sqlstore

import (
	"context"
	"errors"
	"hash/fnv"
	"strings"
)

// tableNames returns the names of both tables.
func (p prefix) tableNames() (trees, tickets string) {
	return string(p) + "trees", string(p) + "tickets"
}

// kinds are the types of columns, as a database calls them.
type kinds struct {
	bytes, name, number, small, text, key string
	keySize, nameSize                     int64
}

// expect returns the columns as they have to be.
func (p prefix) expect(k kinds) []column {
	trees, tickets := p.tableNames()
	return []column{
		{table: trees, name: "tree", kind: k.key, size: k.keySize, key: 1},
		{table: trees, name: "namespace", kind: k.name, size: k.nameSize},
		{table: trees, name: "id", kind: k.name, size: k.nameSize},
		{table: trees, name: "version", kind: k.number},
		{table: trees, name: "fence", kind: k.number},
		{table: trees, name: "changed", kind: k.number},
		{table: tickets, name: "tree", kind: k.key, size: k.keySize, key: 1},
		{table: tickets, name: "place", kind: k.number, key: 2},
		{table: tickets, name: "version", kind: k.number},
		{table: tickets, name: "state", kind: k.small},
		{table: tickets, name: "looks", kind: k.number},
		{table: tickets, name: "home", kind: k.text, nullable: true},
		{table: tickets, name: "ends", kind: k.number},
		{table: tickets, name: "ticket", kind: k.bytes},
	}
}

// scanColumns reads the rows of a statement about columns.
func scanColumns(r *rows) (columns []column, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	for r.Next() {
		var c column
		if err := r.Scan(&c.table, &c.name, &c.kind, &c.size, &c.nullable, &c.key); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, r.Err()
}

func (p *postgres) expected() []column {
	return p.expect(kinds{bytes: "bytea", name: "bytea", key: "bytea", number: "int8", small: "int2", text: "text"})
}

func (p *postgres) columns(ctx context.Context) ([]column, error) {
	trees, tickets := p.tableNames()
	r, err := p.query(ctx, "postgres_columns", trees, tickets)
	if err != nil {
		return nil, err
	}
	return scanColumns(r)
}

// create creates the tables while no other process does: IF NOT EXISTS alone fails where two
// processes run it at once.
func (p *postgres) create(ctx context.Context) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	lock := fnv.New64a()
	_, _ = lock.Write([]byte("pathlock create " + string(p.prefix))) // it never fails
	_, err = conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	if err == nil {
		_, err = conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(lock.Sum64()))
	}
	for _, name := range []string{"postgres_create_trees", "postgres_create_tickets", "postgres_create_home"} {
		if err == nil {
			_, err = conn.ExecContext(ctx, p.text(name))
		}
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		release(conn, "ROLLBACK")
		return err
	}
	release(conn)
	return nil
}

func (m *mysqlEngine) expected() []column {
	return m.expect(kinds{
		bytes: "longblob", name: "varbinary", nameSize: 255, key: "binary", keySize: 32, number: "bigint", small: "smallint", text: "varbinary",
	})
}

func (m *mysqlEngine) columns(ctx context.Context) ([]column, error) {
	trees, tickets := m.tableNames()
	if err := m.learn(ctx); err != nil {
		return nil, err
	}
	// Names are texts there, in whichever character set.
	text := strings.NewReplacer("(?, ?)", "('"+trees+"', '"+tickets+"')").Replace(m.text("mysql_columns"))
	r, err := m.db.QueryContext(ctx, text) //nolint:rowserrcheck,sqlclosecheck // scanColumns does.
	if err != nil {
		return nil, err
	}
	return scanColumns(&rows{Rows: r})
}

func (m *mysqlEngine) create(ctx context.Context) error {
	for _, name := range []string{"mysql_create_trees", "mysql_create_tickets"} {
		if _, err := m.db.ExecContext(ctx, m.text(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqlite) expected() []column {
	return s.expect(kinds{bytes: "blob", name: "blob", key: "blob", number: "integer", small: "integer", text: "text"})
}

func (s *sqlite) columns(ctx context.Context) (columns []column, err error) {
	trees, tickets := s.tableNames()
	err = patiently(ctx, func() error {
		r, err := s.query(ctx, "sqlite_columns", trees, tickets)
		if err == nil {
			columns, err = scanColumns(r)
		}
		return err
	})
	return columns, err
}

// create creates the tables in one transaction, so that there are all or none.
func (s *sqlite) create(ctx context.Context) error {
	l, err := s.begin(ctx, identity{}, func(l *sqliteLocked) error {
		_, err := l.tx.ExecContext(ctx, s.text("sqlite_create_trees"))
		return err
	})
	if err != nil {
		return err
	}
	defer l.close()
	for _, name := range []string{"sqlite_create_tickets", "sqlite_create_home"} {
		if _, err := l.tx.ExecContext(ctx, s.text(name)); err != nil {
			return err
		}
	}
	return l.commit(ctx)
}
