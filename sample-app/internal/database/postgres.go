package database

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
)

// openPostgres opens a PostgreSQL server's database. What the URL says of lock_timeout and application_name is respected.
func openPostgres(url string, connections int) (*DB, error) {
	cfg, err := parsePostgres(url)
	if err != nil {
		return nil, err
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"lock_timeout":     strconv.FormatInt(rowLockWait.Milliseconds(), 10),
		"application_name": "pathlock-sample",
	} {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
	pool := stdlib.OpenDB(*cfg)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(time.Minute)
	db := &DB{Dialect: Postgres, Where: fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database), pools: []*sql.DB{pool}}
	db.Write, err = use(postgres.New(postgres.Config{Conn: pool}))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database: open %s: %w", db.Where, err), db.Close())
	}
	db.Read = db.Write
	return db, nil
}

// parsePostgres reads a URL, which has to name a database.
func parsePostgres(url string) (*pgx.ConnConfig, error) {
	const give = "give postgres://user:password@host:5432/name"
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		// The driver's message can quote the URL, and with it the password.
		return nil, errors.New("database: the PostgreSQL URL makes no sense: " + give)
	}
	if cfg.Database == "" {
		return nil, errors.New("database: the PostgreSQL URL names no database: " + give)
	}
	return cfg, nil
}

// numbered writes the placeholders of a query as PostgreSQL has them: $1 for the first question mark. No query may have one in a literal.
func numbered(query string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		head, rest, found := strings.Cut(query, "?")
		b.WriteString(head)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		query = rest
	}
}

// The server's error codes that matter here, or their first two characters, which are the class.
// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
var (
	postgresUnavailableCodes = []string{
		"08",             // connection exception
		"28",             // invalid authorization
		"3D",             // no such database
		"42P01", "42501", // no such table; no permission
		"53",    // insufficient resources: too many connections, disk full
		"57P",   // the server is shutting down or starting
		"58",    // system error
		"25006", // the transaction is read-only: a standby
		"XX",    // internal error, corrupted data
	}
	postgresContentionCodes = []string{
		"40001", "40P01", // could not be serialised; deadlock
		"55P03", // lock_timeout
	}
)

// postgresUnavailable reports whether an error says that the server cannot serve.
func postgresUnavailable(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		// A server that goes away without a word ends the stream of its answers.
		return true
	}
	return postgresCode(err, postgresUnavailableCodes)
}

// postgresContended reports whether an error says that transactions collided.
func postgresContended(err error) bool { return postgresCode(err, postgresContentionCodes) }

// postgresCode reports whether the server's error code begins with one of codes.
func postgresCode(err error, codes []string) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.ContainsFunc(codes, func(code string) bool { return strings.HasPrefix(e.Code, code) })
}
