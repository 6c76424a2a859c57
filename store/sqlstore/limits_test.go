package sqlstore_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// The largest request of a locker gets into the table.
func TestLimits_largeRequests(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s := d.store(t, sqlstore.WithMaxWaiters(2))
		tree := testlock.Tree(t)
		name := strings.Repeat("n", pathlock.MaxNameBytes)
		deep := func(n int) pathlock.Claim { return x(strings.Repeat("/"+name, n)) }
		lock, err := pathlock.New(s).Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{deep(15)}})
		testerr.Must(t, err)
		testerr.None(t, lock.Release(t.Context()))
	})
}

// A request too many neither waits nor keeps anybody from what is free, in whichever process it is.
// One that would never be granted is told that.
func TestLimits_queueIsFull(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		here, there := d.store(t, sqlstore.WithMaxWaiters(1)), d.store(t, sqlstore.WithMaxWaiters(1))
		tree := testlock.Tree(t)
		held := testlock.Ask(tree, x("/a"))
		testlock.Take(t, here, held)
		first, full := testlock.Ask(tree, x("/c")), testlock.Ask(tree, x("/a"))
		testlock.Take(t, there, first)
		first.Grant, first.Claims, full.Wait = "waits", full.Claims, testlock.Long
		waits := testlock.Queue(t, there, first)
		cycle := held
		cycle.Grant, cycle.Claims, cycle.Wait = "cycle", pathlock.Normalize(x("/c")), testlock.Long
		testerr.Is(t, "a deadlock", testerr.Of(here.Acquire(t.Context(), cycle)), pathlock.ErrDeadlock)
		if _, err := here.Acquire(t.Context(), full); !errors.Is(err, pathlock.ErrConflict) || !errors.Is(err, pathlock.ErrQueueFull) {
			t.Errorf("a request too many: %v", err)
		}
		full.Claims = pathlock.Normalize(x("/b"))
		testlock.Take(t, here, full)
		testlock.Release(t, there, held)
		waits.Granted()
		next := testlock.Queue(t, here, testlock.Ask(tree, x("/a")))
		testlock.Release(t, there, first)
		next.Granted()
		testlock.Release(t, here, next.Acquisition)
	})
}

// An owner at the limit of grants in a tree gets an error, and keeps its grants.
func TestLimits_grantsOfAnOwner(t *testing.T) {
	t.Parallel()
	const most = 3000
	s, first := sqliteFile(t).store(t), testlock.Ask(testlock.Tree(t), pathlock.IS(pathlock.Root()))
	testlock.Take(t, s, first)
	var asking sync.WaitGroup
	for i := 1; i < most; i++ { // at once, so that a few updates write them all
		asking.Go(func() {
			req := first
			req.Grant = pathlock.GrantID(strconv.Itoa(i))
			testerr.None(t, testerr.Of(s.Acquire(t.Context(), req)))
		})
	}
	asking.Wait()
	more := first
	more.Grant = "more"
	if _, err := s.Acquire(t.Context(), more); !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "3000 grants") {
		t.Errorf("one more: %v", err)
	}
	testlock.Keeps(t, s, first)
	testerr.None(t, s.ForceRelease(t.Context(), first.Tree, first.Owner))
}

func TestNewRefuses(t *testing.T) {
	db := opened(t, "sqlite3", "file:"+t.TempDir()+"/x.db")
	for _, prefix := range []string{"", "A_", `a"`, strings.Repeat("a", 41)} {
		if _, err := sqlstore.New(db, sqlstore.SQLite, sqlstore.WithPrefix(prefix)); err == nil {
			t.Errorf("the prefix %q is taken", prefix)
		}
	}
	if _, err := sqlstore.New(db, "oracle"); err == nil {
		t.Error("the dialect oracle is taken")
	}
	if _, err := sqlstore.New(nil, sqlstore.SQLite); err == nil {
		t.Error("no database is taken")
	}
}
