package sqlstore_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// exercise has several goroutines count under one lock, in two stores at once, and requires that no
// count is lost and nothing is left.
func exercise(t *testing.T, stores ...*sqlstore.Store) {
	t.Helper()
	updates(t, stores...)
	tree := newTree(t)
	const rounds, each = 5, 3
	count := 0 // guarded by the lock alone
	var wg sync.WaitGroup
	for _, s := range stores {
		for range each {
			wg.Go(func() {
				for range rounds {
					req := ask(tree, x("/a"))
					req.Wait = long
					if _, err := s.Acquire(t.Context(), req); err != nil {
						t.Error(err)
						return
					}
					count++
					if err := s.Release(t.Context(), req.Tree, req.Owner, req.Grant); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	if want := len(stores) * each * rounds; count != want && !t.Failed() {
		t.Errorf("counted %d, want %d", count, want)
	}
	for _, s := range stores {
		snapshot, err := s.Snapshot(t.Context(), tree)
		if err != nil || len(snapshot.Holders)+len(snapshot.Waiters) > 0 {
			t.Errorf("left behind: %v, %v", snapshot, err)
		}
		if trees, err := s.Trees(t.Context()); err != nil || len(trees) > 0 {
			t.Errorf("left behind: the trees %v, %v", trees, err)
		}
	}
}

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
				exercise(t, s, d.on(t, opened(t, "mysql", dsn)))
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
			exercise(t, s, d.on(t, opened(t, "pgx", u.String())))
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
			exercise(t, s, d.on(t, opened(t, "sqlite3", dsn)))
		})
	}
}

// The tables may lie beside the application's, and several stores beside each other.
func TestStoresBesideEachOther(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		one, other := d.store(t), d.store(t, sqlstore.WithPrefix("app2_locks_"))
		tree := newTree(t)
		take(t, one, ask(tree, x("/a")))
		req := ask(tree, x("/a"))
		take(t, other, req)
		release(t, other, req)
	})
}
