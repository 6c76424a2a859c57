package sqlstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// silence is a time-out that does not end on a busy machine unless the database is silent.
const silence = 2 * time.Second

// silent returns a store in a database that does not answer while it is stopped.
func (d database) silent(t *testing.T) storetest.Silent {
	far, proxy := d.behind(t, 0)
	store := far.store(t, sqlstore.WithTimeout(silence))
	t.Cleanup(proxy.Resume)
	return storetest.Silent{Store: store, Timeout: silence, Stop: proxy.Pause, Resume: proxy.Resume, Other: d.store(t)}
}

// locked returns a store in a database of its own, in which somebody else's transaction has locked
// the tables while it is stopped.
func (d database) locked(t *testing.T) storetest.Silent {
	d = d.another(t)
	store := d.store(t, sqlstore.WithTimeout(silence))
	db := d.pool(t)
	ctx := context.WithoutCancel(t.Context())
	conn, err := db.Conn(ctx)
	testerr.Must(t, err)
	run := func(statement string) {
		testerr.Is(t, statement, testerr.Of(conn.ExecContext(ctx, statement)), nil)
	}
	stop, resume := []string{"BEGIN", "LOCK TABLE pathlock_trees IN ACCESS EXCLUSIVE MODE"}, "ROLLBACK"
	switch d.dialect {
	case sqlstore.MySQL:
		stop, resume = []string{"LOCK TABLES pathlock_trees WRITE"}, "UNLOCK TABLES"
	case sqlstore.SQLite:
		stop = []string{"BEGIN EXCLUSIVE"}
	}
	stopped := false
	goOn := func() {
		if stopped {
			run(resume)
			stopped = false
		}
	}
	t.Cleanup(func() {
		goOn()
		_ = conn.Close()
	})
	stopAll := func() {
		for _, s := range stop {
			run(s)
		}
		stopped = true
	}
	// In WAL mode, a writer of a SQLite file keeps nobody from reading it.
	reads := d.dialect == sqlstore.SQLite
	return storetest.Silent{Store: store, Timeout: silence, Other: d.store(t), Stop: stopAll, Resume: goOn, Reads: reads}
}
