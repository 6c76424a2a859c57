package histories

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// backend is a database of a test's own, and a lock store.
type backend struct {
	program      string // the sample app
	namespace    string // of the locks
	db, locks    string // URLs
	pool         *sql.DB
	dbAddr, lock string // behind which the servers listen; "" for a file
}

// onFile returns a SQLite file, which has the locks, too.
func onFile(t *testing.T) backend {
	file := "sqlite://" + filepath.Join(t.TempDir(), "plans.db")
	return backend{namespace: "histories", db: file, locks: file, pool: open(t, file)}
}

// onServer returns a new database beside the one that a URL names, and Redis.
func onServer(t *testing.T, beside string) backend {
	t.Helper()
	redis := testserver.Redis(t)
	name := fmt.Sprintf("pathlock_histories_%d", rand.Uint32())
	admin := open(t, beside)
	testerr.Must(t, testerr.Of(admin.ExecContext(t.Context(), "CREATE DATABASE "+name)))
	t.Cleanup(func() {
		testerr.None(t, testerr.Of(admin.ExecContext(context.Background(), "DROP DATABASE "+name)))
	})
	b := backend{namespace: name, db: beside[:strings.LastIndexByte(beside, '/')+1] + name, locks: redis}
	b.pool = open(t, b.db)
	d, err := sqlopen.Parse(b.db)
	testerr.Must(t, err)
	if d.MySQL != nil {
		b.dbAddr = d.MySQL.Addr
	} else {
		b.dbAddr = fmt.Sprintf("%s:%d", d.Postgres.Host, d.Postgres.Port)
	}
	at, err := url.Parse(redis)
	testerr.Must(t, err)
	b.lock = at.Host
	return b
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	d, err := sqlopen.Parse(url)
	testerr.Must(t, err)
	pool, err := d.Open()
	testerr.Must(t, err)
	t.Cleanup(func() { testerr.None(t, pool.Close()) })
	return pool
}

// instance is a process of the sample app, and what is between it and its servers.
type instance struct {
	*testchild.SampleApp
	proxies []*testnet.Proxy
}

// start starts an instance.
func (b backend) start(t *testing.T, flags ...string) *instance {
	t.Helper()
	i := &instance{}
	urls := [2]string{b.db, b.locks}
	for n, server := range [2]string{b.dbAddr, b.lock} {
		if server == "" {
			continue
		}
		proxy := testnet.StartProxy(t, server, 0)
		urls[n] = strings.Replace(urls[n], server, proxy.Addr(), 1)
		i.proxies = append(i.proxies, proxy)
	}
	i.SampleApp = testchild.NewSampleApp(t, b.program, append([]string{
		"--db", urls[0], "--locks", urls[1], "--namespace", b.namespace, "--wait=1s", "--lease=" + lease.String(), "--db-connections=8",
	}, flags...)...)
	i.Serve()
	return i
}

// lease is how long the locks of a killed instance stay.
const lease = time.Second

// fail has something go wrong with the instance, and reports whether it has: there is no network to
// fail between it and a file.
func (i *instance) fail(t *testing.T, r *rand.Rand) bool {
	t.Helper()
	after := func(most time.Duration) { time.Sleep(time.Duration(r.Int64N(int64(most)))) }
	what := r.IntN(16)
	if what > 0 && len(i.proxies) == 0 {
		return false
	}
	if what == 0 {
		i.heal()
		i.Kill()
		after(200 * time.Millisecond)
		i.Serve()
		return true
	}
	switch p := i.proxies[r.IntN(len(i.proxies))]; what {
	case 1:
		p.Sever()
	case 2, 3:
		p.Pause()
		if after(300 * time.Millisecond); r.IntN(6) == 0 {
			after(2 * lease)
		}
		p.Resume()
	default: // before the server has it, or before the instance has the answer
		p.CutAt(1+r.IntN(30), r.IntN(2) == 0)
	}
	return true
}

// heal ends all faults.
func (i *instance) heal() {
	for _, p := range i.proxies {
		p.CutAt(0, false)
	}
}
