package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
		add(server.Product, "mysql://"+server.Scratch(b))
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
	testerr.Must(b, err)
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
		{"alone", func(b *testing.B, here, there pathlock.Store) { takeTurns(b, here, there, 0, 1) }},
		{"100-hold", func(b *testing.B, here, there pathlock.Store) { takeTurns(b, here, there, 100, 1) }},
		{"8-goroutines", func(b *testing.B, here, there pathlock.Store) { takeTurns(b, here, there, 0, 8) }},
		{"wake-up", func(b *testing.B, here, there pathlock.Store) {
			tree, leaf := treeOf(b, rand.Text()), leafAt(3, "case")
			// A store that polls asks more and more rarely.
			reportHandOvers(b, lockOf(newLocker(here), tree, leaf), lockOf(newLocker(there), tree, leaf), func() time.Duration { return 200 * time.Millisecond })
		}},
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

// takeTurns has goroutines acquire and release a leaf each, in one tree in which another process
// holds so many others. The result is per acquisition.
func takeTurns(b *testing.B, here, there pathlock.Store, held, goroutines int) {
	tree := treeOf(b, rand.Text())
	locker, other := newLocker(here), newLocker(there)
	for i := range held {
		l := lockOf(other, tree, leafAt(3, fmt.Sprint("other-", i)))
		testerr.Must(b, l.acquire(b.Context(), false))
		b.Cleanup(func() { _ = l.release(context.Background()) })
	}
	locks := make([]lock, goroutines)
	for g := range locks {
		locks[g] = lockOf(locker, tree, leafAt(3, fmt.Sprint("case-", g)))
	}
	turn := func(l lock) error {
		if err := l.acquire(b.Context(), false); err != nil {
			return err
		}
		return l.release(b.Context())
	}
	testerr.Must(b, turn(locks[0])) // connects, and makes what stays
	const each = 10
	for b.Loop() {
		errs := make([]error, goroutines)
		var all sync.WaitGroup
		for g, l := range locks {
			all.Go(func() {
				for i := 0; i < each && errs[g] == nil; i++ {
					errs[g] = turn(l)
				}
			})
		}
		all.Wait()
		testerr.Must(b, errors.Join(errs...))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*each*goroutines), "ns/lock")
	b.ReportMetric(0, "ns/op")
}
