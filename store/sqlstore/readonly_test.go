package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// readOnly returns several ways to make sessions read-only, as a failover does: a statement for the
// database of a store, and then one for each session.
func (d database) readOnly() map[string][]string {
	if d.dialect == sqlstore.Postgres {
		return map[string][]string{"25006": {"SELECT 1", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"}}
	}
	ways := map[string][]string{"1792": {"SELECT 1", "SET SESSION TRANSACTION READ ONLY"}}
	for _, number := range []string{"1290", "1836"} {
		ways[number] = []string{"CREATE TRIGGER refuses BEFORE UPDATE ON pathlock_trees FOR EACH ROW BEGIN IF @stale THEN " +
			"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = " + number + ", MESSAGE_TEXT = 'read-only'; END IF; END", "SET @stale = 1"}
	}
	return ways
}

// A pool outlives a failover. Its sessions then only read, while new ones can write.
func TestReadOnlySessions_AreReplaced(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		for number, way := range d.readOnly() {
			t.Run(number, func(t *testing.T) {
				d := d.another(t)
				s, other := d.store(t), d.store(t)
				run(t, other.DB(), way[0])
				fail := func() { inAllSessions(t, s.DB(), way[1]) }
				tree := testlock.Tree(t)
				held := testlock.Ask(tree, x("/a"))
				testlock.Take(t, s, held)

				fail()
				testlock.Keeps(t, s, held)
				fail()
				waits := testlock.Queue(t, s, testlock.Ask(tree, x("/a")))
				fail()
				testlock.Release(t, other, held)
				waits.Granted()
				fail()
				testlock.Release(t, s, waits.Acquisition)
				left(t, other, tree)
				fail()
				testerr.Is(t, "Check", s.Check(t.Context()), nil)
			})
		}
	})
}

// inAllSessions runs a statement in as many sessions as a pool can have, and gives them back to it.
func inAllSessions(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for range db.Stats().MaxOpenConnections {
		conn, err := db.Conn(ctx)
		if err == nil {
			defer func() { _ = conn.Close() }()
			_, err = conn.ExecContext(ctx, statement)
		}
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", statement, err))
		}
	}
}
