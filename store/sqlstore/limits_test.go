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
		deep := x(strings.Repeat("/"+strings.Repeat("n", pathlock.MaxNameBytes), 15))
		lock, err := pathlock.New(d.store(t)).Acquire(t.Context(), pathlock.Request{Tree: testlock.Tree(t), Claims: []pathlock.Claim{deep}})
		testerr.Must(t, err)
		testerr.None(t, lock.Release(t.Context()))
	})
}

func TestLimits_queueIsFull(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		testlock.Full(t, d.store(t, sqlstore.WithMaxWaiters(1)), d.store(t, sqlstore.WithMaxWaiters(1)))
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
