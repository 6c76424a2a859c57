// Package idempotencytest checks that package idempotency keeps its promises on a database. Every
// database that gormplugin supports passes [Run]. testdata has the conversations.
package idempotencytest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Database is where the tests run: an empty database of their own.
type Database struct {
	// URL is what a further process knows the database by: see [Child].
	URL string
	// Other is the URL of another database, which is empty too.
	Other string
	// Dialector is GORM's for a URL.
	Dialector func(url string) gorm.Dialector
}

// Run checks what depends on the database.
func Run(t *testing.T, d Database) {
	t.Helper()
	t.Run("tables", d.checkTables)
	t.Run("transcript", func(t *testing.T) { d.play(t, "database.txt") })
	t.Run("pools", d.checkPools)
	t.Run("after the end", d.checkAfterTheEnd)
	t.Run("purge", d.checkPurge)
	t.Run("storm", d.checkStorm)
	t.Run("killed", d.checkKilled)
}

// RunHTTP checks what does not depend on the database: which requests run, and which answers are
// recorded. The database has been through [Run].
func RunHTTP(t *testing.T, d Database) {
	t.Helper()
	t.Run("transcript", func(t *testing.T) { d.play(t, "http.txt") })
	t.Run("slow bodies", d.checkSlowBodies)
	t.Run("statements that fail", d.checkFailing)
	t.Run("claims without an answer", d.checkUnanswered)
	t.Run("reads from an old copy", d.checkReadLate)
}

// open opens an instance, and closes it at the end of the test.
func (d Database) open(t *testing.T, config idempotency.Config) *shop {
	t.Helper()
	s, err := openShop(d.Dialector, d.URL, config)
	testerr.Must(t, err)
	t.Cleanup(func() {
		for _, db := range s.pools {
			pool, err := db.DB()
			testerr.Must(t, err)
			if n := pool.Stats().InUse; n != 0 {
				t.Errorf("%d connections are in use", n)
			}
			testerr.None(t, pool.Close())
		}
	})
	return s
}

// orders returns how many orders of an item there are.
func (s *shop) orders(t *testing.T, item string) int64 {
	t.Helper()
	var n int64
	testerr.Must(t, s.db.Model(&Order{}).Where("item = ?", item).Count(&n).Error)
	return n
}

// expectOrders checks how many orders of an item there are.
func (s *shop) expectOrders(t *testing.T, item string, want int64) {
	t.Helper()
	if n := s.orders(t, item); n != want {
		t.Errorf("%d orders of %s, want %d", n, item, want)
	}
}

// item is the body of a request for it.
func item(name string) string { return `{"item":"` + name + `"}` }

// ordering asks for an order that is named as the key.
func ordering(path, key string) ask {
	return ask{path: path, keys: []string{key}, user: "anybody", body: item(key)}
}

// checkTables makes the table of keys on several instances at once.
func (d Database) checkTables(t *testing.T) {
	first := d.open(t, idempotency.Config{})
	if err := gormplugin.Verify(first.db); err == nil {
		t.Error("a plugin that guards nothing is fine")
	}
	if err := first.keys.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "pathlock_idempotency") {
		t.Errorf("without the table: %v", err)
	}
	if a := first.send(t.Context(), ordering("/plain", "x")); a.status < http.StatusInternalServerError {
		t.Errorf("without the table: %d %s", a.status, a.body)
	}
	var makers sync.WaitGroup
	for range 5 {
		s := d.open(t, idempotency.Config{})
		makers.Go(func() { testerr.None(t, s.keys.Migrate(t.Context())) })
	}
	makers.Wait()
	testerr.None(t, first.keys.Check(t.Context()))
	testerr.Must(t, first.db.AutoMigrate(&Order{}))
	first.expectOrders(t, "x", 0)
}

// checkPurge deletes more old keys than one batch has.
func (d Database) checkPurge(t *testing.T) {
	const old = 1100
	const insert = "INSERT INTO pathlock_idempotency (id, fingerprint, attempt, state, commits, status, leased_until, expires_at) VALUES (?, '', '', 0, 0, 0, 0, 1)"
	s, k := d.open(t, idempotency.Config{}), key()
	testerr.Must(t, s.db.Exec("UPDATE pathlock_idempotency SET expires_at = 1").Error)
	for i := range old {
		testerr.Must(t, s.db.Exec(insert, fmt.Sprint(k, i)).Error)
	}
	var left int64
	deleted, err := s.keys.Purge(t.Context())
	err = errors.Join(err, s.db.Table("pathlock_idempotency").Count(&left).Error)
	if err != nil || deleted < old || left != 0 {
		t.Errorf("%d deleted, %d left, %v", deleted, left, err)
	}
}

// checkStorm has many clients send the same few requests and messages to two instances at once.
func (d Database) checkStorm(t *testing.T) {
	const keys, copies = 16, 12
	shops := []*shop{d.open(t, idempotency.Config{Wait: time.Minute}), d.open(t, idempotency.Config{Wait: time.Minute})}
	paths := []string{"/recorded", "/plain", "/implicit", once}
	var clients sync.WaitGroup
	var asks [keys]ask
	var answers [keys][copies]answer
	for i := range asks {
		asks[i] = ordering(paths[i%len(paths)], key())
		for n := range copies {
			clients.Go(func() { answers[i][n] = shops[n%len(shops)].send(t.Context(), asks[i]) })
		}
	}
	clients.Wait()
	for i, a := range asks {
		fresh := 0
		for _, got := range answers[i] {
			if got.status != http.StatusCreated || got.body != answers[i][0].body {
				t.Errorf("%s: %d %q and %q", a.path, got.status, got.body, answers[i][0].body)
			}
			if !got.replayed {
				fresh++
			}
		}
		if fresh != 1 {
			t.Errorf("%s: %d answers that were no repetitions", a.path, fresh)
		}
		shops[0].expectOrders(t, a.keys[0], 1)
	}
}
