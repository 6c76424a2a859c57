package sqlstore_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// A waiter holds no connection: one serves fifty waiters, and everybody else beside them. If it is
// used up, operations wait for it, and fail when their time is over.
func TestWaiters_shareOneConnection(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		other := d.store(t)
		db := d.pool(t)
		db.SetMaxOpenConns(1)
		s, impatient := d.on(t, db), d.on(t, db, sqlstore.WithTimeout(time.Second))
		tree := testlock.Tree(t)
		held := testlock.Ask(tree, x("/a"))
		testlock.Take(t, other, held)
		var waits []*testlock.Waiting
		for range 50 {
			waits = append(waits, testlock.Queue(t, s, testlock.Ask(tree, pathlock.S(pathlock.MustParsePath("/a")))))
		}
		conn, err := db.Conn(t.Context())
		testerr.Must(t, err)
		if _, err := impatient.Acquire(t.Context(), testlock.Ask(tree, x("/c"))); !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a connection: %v", err)
		}
		testerr.Must(t, conn.Close())
		beside := testlock.Ask(tree, x("/b"))
		testlock.Take(t, s, beside)
		testlock.Release(t, s, beside)
		testlock.Release(t, other, held)
		for _, w := range waits {
			w.Granted()
		}
	})
}

// A process may wait in more trees than one statement of SQLite can name.
func TestWaiters_inManyTrees(t *testing.T) {
	t.Parallel()
	d := sqliteFile(t)
	s, other := d.store(t), d.store(t)
	var watches sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer watches.Wait()
	defer stop()
	for range 1_000 {
		watches.Go(func() { s.Watch(ctx, testlock.Tree(t)) })
	}
	held := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, other, held)
	w := testlock.Queue(t, s, testlock.Ask(held.Tree, x("/a")))
	testlock.Release(t, other, held)
	w.Granted()
}

// A process far from the database gets its turn, though a near one keeps writing.
func TestReserve(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		far, _ := d.behind(t, 10*time.Millisecond)
		testlock.Far(t, far.store(t, sqlstore.WithTimeout(3*time.Second)), d.store(t))
	})
}

// Lost connections cost the waiters nothing: the store looks over other connections, and listens
// again.
func TestWaitersLoseTheirConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		other := d.store(t)
		far, proxy := d.behind(t, 0)
		s := far.store(t)
		tree := testlock.Tree(t)
		for range 2 {
			held := testlock.Ask(tree, x("/a"))
			testlock.Take(t, other, held)
			w := testlock.Queue(t, s, testlock.Ask(tree, x("/a")))
			if d.dialect == sqlstore.Postgres {
				testserver.Await(t, "the store listens", s.Listening)
			}
			proxy.Sever()
			testlock.Release(t, other, held)
			w.Granted()
			testlock.Release(t, other, w.Acquisition)
		}
	})
}

// Behind a pgbouncer in transaction mode, LISTEN succeeds and nothing arrives. A connection to
// another database is as deaf.
func TestNotificationsThatDoNotArrive(t *testing.T) {
	d, elsewhere := scratchPostgres(t), scratchPostgres(t)
	other := d.store(t)
	s := d.on(t, d.pool(t), sqlstore.WithListener(func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, elsewhere.url) }))
	held := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, other, held)
	w := testlock.Queue(t, s, testlock.Ask(held.Tree, x("/a")))
	testserver.Await(t, "the store listens", s.Listening)
	testlock.Release(t, other, held)
	w.Granted()
}

// Anybody who may connect can notify the channel.
func TestListener_acceptsOnlyItsOwnPayloads(t *testing.T) {
	tree := strings.Repeat("0a", 32)
	for payload, want := range map[string]bool{
		tree + "/7": true, tree: false, tree + "/": false, tree + "/7 ": false, tree + "/+7": false, tree + "/07": false,
		strings.ToUpper(tree) + "/7": false, tree + "0a/7": false, tree[2:] + "/7": false, tree[1:] + "/7": false, "": false,
	} {
		if got := sqlstore.ParsesPayload(payload); got != want {
			t.Errorf("%q: %t, want %t", payload, got, want)
		}
	}
}
