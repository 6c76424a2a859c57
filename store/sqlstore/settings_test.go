package sqlstore_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// An application's own pool has whatever settings the application needs.
func TestSettingsOfMySQL(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		isolation := "transaction_isolation"
		if server.Product == testserver.MariaDB {
			isolation = "tx_isolation"
		}
		for _, query := range []string{
			"",
			"multiStatements=true",
			"interpolateParams=true&parseTime=true&loc=Asia%2FTokyo",
			isolation + "=%27SERIALIZABLE%27",
			isolation + "=%27READ-UNCOMMITTED%27&multiStatements=true",
			"time_zone=%27%2B09%3A30%27&sql_mode=%27ANSI%2CNO_BACKSLASH_ESCAPES%2CTRADITIONAL%27",
			"clientFoundRows=true&multiStatements=true",
			"charset=latin1&sql_mode=%27%27",
		} {
			t.Run(query, func(t *testing.T) {
				t.Parallel()
				d := scratchMySQL(t, server)
				d.store(t)
				cfg, err := mysql.ParseDSN(strings.TrimPrefix(d.url, "mysql://"))
				if err != nil {
					t.Fatal(err)
				}
				dsn := cfg.FormatDSN()
				if strings.Contains(dsn, "?") {
					dsn += "&" + query
				} else {
					dsn += "?" + query
				}
				s := d.on(t, opened(t, "mysql", dsn))
				if err := s.Check(t.Context()); err != nil {
					t.Error(err)
				}
				updates(t, s, d.on(t, opened(t, "mysql", dsn)))
			})
		}
	})
}

// Sessions that cannot write or do not commit are refused, and the error says what to do.
func TestSettingsThatAreRefused(t *testing.T) {
	refused := func(t *testing.T, d database, driver, dsn, want string) {
		t.Helper()
		d.store(t)
		s := d.on(t, opened(t, driver, dsn))
		_, acquired := s.Acquire(t.Context(), ask(newTree(t), x("/a")))
		for what, err := range map[string]error{"Check": s.Check(t.Context()), "Acquire": acquired} {
			if !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say: %s", what, err, want)
			}
		}
	}
	d := scratchPostgres(t)
	refused(t, d, "pgx", d.url+"?default_transaction_read_only=on", "name the primary")
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := scratchMySQL(t, server)
		dsn := strings.TrimPrefix(d.url, "mysql://") + "?"
		refused(t, d, "mysql", dsn+"autocommit=0", "autocommit=1")
		readOnly := "transaction_read_only"
		if server.Product == testserver.MariaDB {
			readOnly = "tx_read_only"
		}
		refused(t, d, "mysql", dsn+readOnly+"=1", "name the primary")
	})
}

func TestSettingsOfPostgres(t *testing.T) {
	for _, setting := range []string{
		"",
		"default_transaction_isolation=serializable",
		"default_transaction_isolation=repeatable read",
		"timezone=Asia/Tokyo",
		"synchronous_commit=off",
		"default_query_exec_mode=exec",
		"default_query_exec_mode=simple_protocol",
		"default_query_exec_mode=cache_describe",
		"standard_conforming_strings=off",
		"lock_timeout=5",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			d := scratchPostgres(t)
			d.store(t)
			u, err := url.Parse(d.url)
			if err != nil {
				t.Fatal(err)
			}
			if name, value, ok := strings.Cut(setting, "="); ok {
				q := u.Query()
				q.Set(name, value)
				u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
			}
			s := d.on(t, opened(t, "pgx", u.String()))
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
			updates(t, s, d.on(t, opened(t, "pgx", u.String())))
		})
	}
}

func TestSettingsOfSQLite(t *testing.T) {
	for _, query := range []string{
		"_pragma=busy_timeout(0)",
		"_pragma=busy_timeout(10000)&_pragma=journal_mode(delete)",
		"_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_txlock=immediate",
		"_pragma=busy_timeout(0)&_pragma=journal_mode(truncate)&_pragma=foreign_keys(1)",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir() + "/locks.db"
			d := database{"SQLite", "sqlite://" + path, sqlstore.SQLite}
			dsn := fmt.Sprintf("file:%s?%s", path, query)
			s := d.on(t, opened(t, "sqlite3", dsn))
			if err := s.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
			updates(t, s, d.on(t, opened(t, "sqlite3", dsn)))
		})
	}
}
