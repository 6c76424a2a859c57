package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// pending is a request that waits.
type pending struct {
	t      testing.TB
	req    pathlock.Acquisition
	cancel context.CancelFunc
	over   chan struct{}
	grant  pathlock.Grant
	err    error
}

// queue requires that a request begins to wait. Its lease is so long that no sign of life wakes it.
func queue(t testing.TB, s pathlock.Store, req pathlock.Acquisition) *pending {
	t.Helper()
	req.Wait, req.Lease = long, 10*time.Minute
	begun := make(chan struct{})
	req.Waiting = func() { close(begun) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &pending{t: t, req: req, cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(p.over)
		p.grant, p.err = s.Acquire(ctx, req)
	}()
	t.Cleanup(func() { cancel(); <-p.over })
	select {
	case <-begun:
	case <-p.over:
		t.Fatalf("acquire %v: fence %d, error %v; want it to wait", req.Claims, p.grant.Fence, p.err)
	case <-time.After(patience):
		t.Fatalf("acquire %v: neither queued nor refused", req.Claims)
	}
	return p
}

// granted requires that the wait ends with a grant.
func (p *pending) granted() {
	p.t.Helper()
	select {
	case <-p.over:
	case <-time.After(patience):
		p.t.Fatalf("%v: still waits", p.req.Claims)
	}
	if p.err != nil {
		p.t.Fatalf("%v: %v, want a grant", p.req.Claims, p.err)
	}
}

// on returns a store on a pool, until the end of the test.
func (d database) on(t testing.TB, db *sql.DB, opts ...sqlstore.Option) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(db, d.dialect, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// eventually requires that something becomes true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}

// A waiter holds no connection: one serves fifty waiters, and everybody else beside them.
func TestOneConnectionServesManyWaiters(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		other := d.store(t)
		db := d.pool(t)
		db.SetMaxOpenConns(1)
		s := d.on(t, db)
		tree := newTree(t)
		held := ask(tree, x("/a"))
		take(t, other, held)
		var waits []*pending
		for range 50 {
			waits = append(waits, queue(t, s, ask(tree, pathlock.S(pathlock.MustParsePath("/a")))))
		}
		eventually(t, "no connection is in use", func() bool { return db.Stats().InUse == 0 })
		beside := ask(tree, x("/b"))
		take(t, s, beside)
		release(t, s, beside)
		if err := db.PingContext(t.Context()); err != nil {
			t.Errorf("the application's own statement: %v", err)
		}
		release(t, other, held)
		for _, w := range waits {
			w.granted()
		}
	})
}

// endListeners ends the sessions that listen, and returns how many there were.
func endListeners(t *testing.T, db *sql.DB) int {
	t.Helper()
	var n int
	err := db.QueryRowContext(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A lost connection costs the waiters nothing: the store looks for itself, and listens again.
func TestTheListenerLosesItsConnection(t *testing.T) {
	d := scratchPostgres(t)
	s, other := d.store(t), d.store(t)
	tree := newTree(t)
	db := d.pool(t)
	held := ask(tree, x("/a"))
	for range 2 {
		take(t, other, held)
		w := queue(t, s, ask(tree, x("/a")))
		eventually(t, "the store listens", s.Listening)
		if endListeners(t, db) == 0 {
			t.Fatal("nobody listened")
		}
		eventually(t, "the holder's pool has a connection again", func() bool { return other.Ping(t.Context()) == nil })
		release(t, other, held)
		w.granted()
		release(t, s, w.req)
		held = ask(tree, x("/a"))
	}
}

// Behind a pgbouncer in transaction mode, LISTEN succeeds and nothing arrives. A connection to
// another database is as deaf.
func TestNotificationsThatDoNotArrive(t *testing.T) {
	d, elsewhere := scratchPostgres(t), scratchPostgres(t)
	other := d.store(t)
	s := d.on(t, d.pool(t), sqlstore.WithListener(func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, elsewhere.url) }))
	tree := newTree(t)
	for i := range 3 {
		held := ask(tree, x("/a"))
		take(t, other, held)
		w := queue(t, s, ask(tree, x("/a")))
		if i == 2 {
			time.Sleep(4 * time.Second) // the store finds out that it is deaf
		}
		release(t, other, held)
		w.granted()
		release(t, s, w.req)
	}
	if s.Listening() {
		t.Error("the store believes that it hears")
	}
}

// Where the pool is used up, operations wait for a connection, and fail when their time is over.
func TestAPoolThatIsUsedUp(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		d.store(t)
		db := d.pool(t)
		db.SetMaxOpenConns(1)
		s := d.on(t, db, sqlstore.WithTimeout(time.Second))
		tree := newTree(t)
		take(t, s, ask(tree, x("/a")))
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Acquire(t.Context(), ask(tree, x("/b")))
		if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a connection: %v", err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		take(t, s, ask(tree, x("/b")))
	})
}
