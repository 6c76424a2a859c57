package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// storeURLs names a place for the locks in each kind of store, Redis first. A kind whose server is
// not here is left out.
func storeURLs(b *testing.B) (names []string, urls map[string]string) {
	b.Helper()
	urls = map[string]string{
		"Redis":  testserver.Redis(b),
		"memory": "memory://",
		"SQLite": "sqlite://" + filepath.Join(b.TempDir(), "locks.db"),
		"etcd":   "etcd://" + testetcd.Start(b).Addr,
	}
	names = []string{"Redis", "memory", "SQLite", "etcd"}
	add := func(name, url string) { names, urls[name] = append(names, name), url }
	if testserver.Available(testserver.PostgresVariable) {
		add("PostgreSQL", testserver.Postgres(b))
	}
	for _, server := range testserver.MySQLServers(b) {
		add(server.Product, "mysql://"+databaseOn(b, server.DSN))
	}
	if testzk.Lacking() == "" {
		add("ZooKeeper", "zk://"+testzk.Start(b).Addr+"/pathlock")
	}
	var members []string
	for range 3 {
		members = append(members, "redis://"+testredis.Start(b, testredis.Redis).Addr)
	}
	add("quorum", "quorum:"+strings.Join(members, "|"))
	return names, urls
}

// openAny opens a store of any kind, as a process does. Those in memory are one for the program.
func openAny(b *testing.B, rawURL string) pathlock.Store {
	b.Helper()
	store, err := anystore.Open(b.Context(), rawURL, redisstore.Kind, sqlopen.Kind, zkstore.Kind, etcdstore.Kind)
	if err != nil {
		shown, _, _ := strings.Cut(rawURL, "?")
		if u, parsed := url.Parse(shown); parsed == nil {
			shown = u.Redacted()
		}
		b.Fatalf("%s: %v", shown, err)
	}
	b.Cleanup(func() { _ = store.Close(context.WithoutCancel(b.Context())) })
	return store
}

// Every kind of lock store behind a locker, with its server on this machine.
func BenchmarkStores(b *testing.B) {
	names, urls := storeURLs(b)
	for _, work := range []struct {
		name string
		run  func(b *testing.B, here, there pathlock.Store)
	}{
		{"alone", func(b *testing.B, here, _ pathlock.Store) { takeTurns(b, here, 1) }},
		{"100-hold", func(b *testing.B, here, there pathlock.Store) { takeTurnsAmong(b, here, there, 100) }},
		{"8-goroutines", func(b *testing.B, here, _ pathlock.Store) { takeTurns(b, here, 8) }},
		{"wake-up", wakeAcross},
	} {
		for _, name := range names {
			b.Run("work="+work.name+"/store="+name, func(b *testing.B) {
				here := openAny(b, urls[name])
				there := here
				if name != "memory" {
					there = openAny(b, urls[name])
				}
				work.run(b, here, there)
			})
		}
	}
}

// takeTurns has goroutines acquire and release a leaf each, in one tree. The result is per
// acquisition.
func takeTurns(b *testing.B, store pathlock.Store, goroutines int) {
	takeTurnsIn(b, store, rand.Text(), goroutines)
}

func takeTurnsAmong(b *testing.B, here, there pathlock.Store, held int) {
	tree, other := rand.Text(), newLocker(there)
	var locks []*pathlock.Lock
	for i := range held {
		l, err := other.Acquire(b.Context(), pathlock.Request{Tree: treeOf(b, tree), Claims: []pathlock.Claim{pathlock.X(leafAt(3, fmt.Sprint("other-", i)))}})
		testerr.Must(b, err)
		locks = append(locks, l)
	}
	takeTurnsIn(b, here, tree, 1)
	for _, l := range locks {
		l.ReleaseInBackground(b.Context())
	}
	testerr.Must(b, other.Shutdown(b.Context()))
}

func takeTurnsIn(b *testing.B, store pathlock.Store, tree string, goroutines int) {
	locker := newLocker(store)
	turn := func(g int) error {
		l, err := locker.Acquire(b.Context(), pathlock.Request{Tree: treeOf(b, tree), Claims: []pathlock.Claim{pathlock.X(leafAt(3, fmt.Sprint("case-", g)))}})
		if err != nil {
			return err
		}
		return l.Release(b.Context())
	}
	if err := turn(0); err != nil { // connects, and makes what stays
		b.Fatal(err)
	}
	const each = 10
	for b.Loop() {
		errs := make([]error, goroutines)
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for i := 0; i < each && errs[g] == nil; i++ {
					errs[g] = turn(g)
				}
			})
		}
		all.Wait()
		testerr.Must(b, errors.Join(errs...))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*each*goroutines), "ns/lock")
	b.ReportMetric(0, "ns/op")
}

// waitingObserver tells when a request has begun to wait.
type waitingObserver struct {
	pathlock.NopObserver
	waiting chan<- struct{}
}

func (o waitingObserver) Waiting(context.Context, pathlock.Event) { o.waiting <- struct{}{} }

// wakeAcross measures the time from a release to the grant of a waiter in another process.
func wakeAcross(b *testing.B, here, there pathlock.Store) {
	request := pathlock.Request{Tree: treeOf(b, rand.Text()), Claims: []pathlock.Claim{pathlock.X(leafAt(3, "case"))}, Wait: time.Minute}
	waiting := make(chan struct{}, 1)
	holder, waiter := newLocker(here), newLocker(there, pathlock.WithObserver(waitingObserver{waiting: waiting}))
	var total time.Duration
	for b.Loop() {
		held, err := holder.Acquire(b.Context(), request)
		testerr.Must(b, err)
		granted := make(chan time.Time, 1)
		go func() {
			defer close(granted)
			l, err := waiter.Acquire(b.Context(), request)
			if err != nil {
				b.Error(err)
				return
			}
			granted <- time.Now()
			testerr.None(b, l.Release(b.Context()))
		}()
		<-waiting
		time.Sleep(150 * time.Millisecond) // a store that polls asks more and more rarely
		start := time.Now()
		testerr.Must(b, held.Release(b.Context()))
		total += (<-granted).Sub(start)
		<-granted
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/grant")
	b.ReportMetric(0, "ns/op")
}
