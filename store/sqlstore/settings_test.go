package sqlstore_test

import (
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// with returns a store on an application's own pool, with further settings of its sessions.
func (d database) with(t *testing.T, settings string) *sqlstore.Store {
	t.Helper()
	if settings != "" {
		separator := "?"
		if strings.Contains(d.url, "?") {
			separator = "&"
		}
		d.url += separator + settings
	}
	return d.on(t, d.pool(t))
}

// excludes requires that goroutines in two stores exclude each other, that their calls all succeed,
// and that the clock is the server's, in UTC.
func excludes(t *testing.T, stores ...*sqlstore.Store) {
	t.Helper()
	tree := testlock.Tree(t)
	const workers, rounds = 3, 4
	counted := 0
	var all sync.WaitGroup
	for i := range workers * len(stores) {
		s := stores[i%len(stores)]
		all.Go(func() {
			for range rounds {
				lock, err := pathlock.New(s).Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true, Wait: testlock.Long})
				if err != nil {
					t.Error(err)
					return
				}
				counted++
				testerr.None(t, lock.Release(t.Context()))
			}
		})
	}
	all.Wait()
	if want := len(stores) * workers * rounds; counted != want {
		t.Errorf("counted %d, want %d", counted, want)
	}
	state, err := stores[0].View(t.Context(), tree)
	// The servers of the tests are on this host.
	if off := time.Since(state.Now); err != nil || off.Abs() > time.Minute {
		t.Errorf("the clock shows %v, %v from now, error %v", state.Now, off, err)
	}
}

// An application's own pool has whatever settings the application needs.
func TestSettings(t *testing.T) {
	t.Parallel()
	suits := func(t *testing.T, d database, settings ...string) {
		for _, one := range settings {
			t.Run(one, func(t *testing.T) {
				t.Parallel()
				s := d.with(t, one)
				testerr.Must(t, s.Create(t.Context()))
				testerr.None(t, s.Check(t.Context()))
				excludes(t, s, d.with(t, one))
			})
		}
	}
	suits(t, scratchPostgres(t), "default_transaction_isolation=serializable", "default_transaction_isolation=repeatable%20read",
		"timezone=Asia/Tokyo", "default_query_exec_mode=exec", "default_query_exec_mode=simple_protocol",
		"standard_conforming_strings=off", "lock_timeout=5")
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		isolation := "transaction_isolation"
		if server.Product == testserver.MariaDB {
			isolation = "tx_isolation"
		}
		suits(t, scratchMySQL(t, server), "interpolateParams=true&parseTime=true&loc=Asia%2FTokyo",
			isolation+"=%27SERIALIZABLE%27", isolation+"=%27READ-UNCOMMITTED%27&multiStatements=true",
			"time_zone=%27%2B09%3A30%27&sql_mode=%27ANSI%2CNO_BACKSLASH_ESCAPES%2CTRADITIONAL%27",
			"clientFoundRows=true", "charset=latin1&sql_mode=%27%27")
	})
	for _, pragmas := range []string{"busy_timeout(0)", "journal_mode(delete)", "journal_mode(wal)&_txlock=immediate"} {
		t.Run(pragmas, func(t *testing.T) {
			d := sqliteFile(t)
			d.url += "?_pragma=" + pragmas
			suits(t, d, "")
		})
	}
}

// Sessions that cannot write or do not commit are refused, and the error says what to do. So is a
// user who may only read.
func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, d database, settings, want string) {
		t.Helper()
		s := d.with(t, settings)
		_, acquired := s.Acquire(t.Context(), testlock.Ask(testlock.Tree(t), x("/a")))
		for what, err := range map[string]error{"Check": s.Check(t.Context()), "Ping": s.Ping(t.Context()), "Acquire": acquired} {
			if !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to say: %s", what, err, want)
			}
		}
	}
	d := scratchPostgres(t)
	d.store(t)
	refused(t, d, "default_transaction_read_only=on", "name the primary")
	db, role := d.pool(t), "pathlock_"+strings.ToLower(rand.Text()[:10])
	run(t, db, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { run(t, db, "DROP OWNED BY "+role); run(t, db, "DROP ROLE "+role) })
	run(t, db, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
	u, err := url.Parse(d.url)
	testerr.Must(t, err)
	u.User = url.User(role)
	d.url = u.String()
	refused(t, d, "", "SELECT, INSERT, UPDATE and DELETE")
	run(t, db, "DROP TABLE pathlock_trees")
	run(t, db, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	_, err = d.on(t, d.pool(t), sqlstore.WithAutoCreate()).Acquire(t.Context(), testlock.Ask(testlock.Tree(t), x("/a")))
	if !strings.Contains(err.Error(), "the right to create tables") {
		t.Errorf("without the right to create the table: %v", err)
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := scratchMySQL(t, server)
		d.store(t)
		refused(t, d, "autocommit=0", "autocommit=1")
		readOnly := "transaction_read_only"
		if server.Product == testserver.MariaDB {
			readOnly = "tx_read_only"
		}
		refused(t, d, readOnly+"=1", "name the primary")
	})
}
