package section

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// durable is the database server of the HTTP section, which waits for the disk at each commit.
type durable struct {
	pool   *sql.DB
	config *mysqldriver.Config
	// durability describes the setting to people.
	durability string
	restore    func(context.Context) error
	// used returns the processor time of the server, if that is known.
	used func() (time.Duration, error)
}

// openDurable makes the server wait for the disk, if it is the benchmark's own.
func openDurable(ctx context.Context, env *Env) (*durable, error) {
	config, err := mysqldriver.ParseDSN(env.DSN)
	if err != nil {
		return nil, fmt.Errorf("the server's DSN: %w", err)
	}
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	s := &durable{
		pool: sql.OpenDB(connector), config: config,
		restore: func(context.Context) error { return nil },
		used:    func() (time.Duration, error) { return 0, nil },
	}
	const flush = "innodb_flush_log_at_trx_commit"
	var was string
	err = s.pool.QueryRowContext(ctx, "SELECT @@GLOBAL."+flush).Scan(&was)
	if err == nil && env.OwnSQL != nil {
		_, err = s.pool.ExecContext(ctx, "SET GLOBAL "+flush+" = 1")
		s.restore = func(ctx context.Context) error {
			_, err := s.pool.ExecContext(ctx, "SET GLOBAL "+flush+" = "+was)
			return err
		}
		s.used, was = env.OwnSQL.CPU, "1"
	}
	if err != nil {
		return nil, errors.Join(err, s.pool.Close())
	}
	s.durability = flush + " = " + was
	return s, nil
}

// close restores the former setting.
func (s *durable) close(ctx context.Context) error {
	return errors.Join(s.restore(ctx), s.pool.Close())
}

// create creates a database, and returns its URL for the sample app and a function that drops it.
func (s *durable) create(ctx context.Context) (url string, drop func(context.Context) error, err error) {
	name := "pathlock_bench_" + strings.ToLower(rand.Text()[:8])
	if _, err := s.pool.ExecContext(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		return "", nil, fmt.Errorf("making a database: %w", err)
	}
	config := s.config.Clone()
	config.DBName = name
	return "mysql://" + config.FormatDSN(), func(ctx context.Context) error {
		_, err := s.pool.ExecContext(ctx, "DROP DATABASE "+name)
		return err
	}, nil
}

// allStatements is the number of statements of all kinds.
const allStatements = "all"

// statementKinds are the kinds of statements.
func statementKinds() []string {
	return []string{allStatements, "SELECT", "INSERT", "UPDATE", "DELETE", "SET", "BEGIN, COMMIT", "prepared"}
}

// kindOf returns the kind that a status variable of the server counts, and "" for other variables.
func kindOf(variable string) string {
	switch variable {
	case "Questions":
		return allStatements
	case "Com_select", "Com_insert", "Com_update", "Com_delete":
		return strings.ToUpper(strings.TrimPrefix(variable, "Com_"))
	case "Com_set_option":
		return "SET"
	case "Com_begin", "Com_commit", "Com_rollback":
		return "BEGIN, COMMIT"
	case "Com_stmt_prepare", "Com_stmt_execute", "Com_stmt_close":
		return "prepared"
	default:
		return ""
	}
}

// reading is what the server and the instances have spent so far.
type reading struct {
	cpu, serverCPU time.Duration
	statements     map[string]int64
}

// read reads the counters. One or two of its own statements count.
func (s *durable) read(ctx context.Context, f *fleet) (r reading, err error) {
	if r.statements, err = s.statements(ctx); err != nil {
		return r, err
	}
	for _, i := range f.instances {
		used, err := i.CPU()
		if err != nil {
			return r, err
		}
		r.cpu += used
	}
	r.serverCPU, err = s.used()
	return r, err
}

// statements returns how many statements the server has received so far, by kind.
func (s *durable) statements(ctx context.Context) (_ map[string]int64, err error) {
	rows, err := s.pool.QueryContext(ctx, "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%' OR Variable_name = 'Questions'")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counted := make(map[string]int64)
	for rows.Next() {
		var variable string
		var n int64
		if err := rows.Scan(&variable, &n); err != nil {
			return nil, err
		}
		if kind := kindOf(variable); kind != "" {
			counted[kind] += n
		}
	}
	return counted, rows.Err()
}
