package idempotencytest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
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

// open opens an instance, and closes it at the end of the test.
func (d Database) open(t *testing.T, config idempotency.Config) *shop {
	t.Helper()
	s, err := openShop(d.Dialector(d.URL), config)
	testerr.Must(t, err)
	closeAtEnd(t, s.db)
	return s
}

// closeAtEnd closes an instance's pool at the end of the test.
func closeAtEnd(t *testing.T, db *gorm.DB) {
	t.Helper()
	t.Cleanup(func() {
		pool, err := db.DB()
		testerr.Must(t, err)
		if n := pool.Stats().InUse; n != 0 {
			t.Errorf("%d connections are in use", n)
		}
		testerr.None(t, pool.Close())
	})
}

// Run checks what depends on the database.
func Run(t *testing.T, d Database) {
	t.Helper()
	t.Run("tables", d.checkTables)
	t.Run("pools", d.checkPools)
	t.Run("concurrent", d.checkConcurrent)
	t.Run("taken over", d.checkTakenOver)
	t.Run("expiry", d.checkExpiry)
	t.Run("storm", d.checkStorm)
	t.Run("killed", d.checkKilled)
	t.Run("once", d.checkOnce)
}

// key returns a key that nobody else uses.
func key() string { return fmt.Sprintf("%x", rand.Uint64()) }

// checkTables makes the table of keys on several instances at once.
func (d Database) checkTables(t *testing.T) {
	first := d.open(t, idempotency.Config{})
	if err := gormplugin.Verify(first.db); err == nil {
		t.Error("a plugin that guards nothing is fine")
	}
	if err := first.keys.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "pathlock_idempotency") {
		t.Errorf("without the table: %v", err)
	}
	if a := first.send(ask{path: "/plain", key: key(), body: item("x")}); a.status < http.StatusInternalServerError {
		t.Errorf("without the table: %d %s", a.status, a.body)
	}
	var makers sync.WaitGroup
	for range 5 {
		s := d.open(t, idempotency.Config{})
		makers.Go(func() {
			testerr.None(t, s.keys.Migrate(t.Context()))
		})
	}
	makers.Wait()
	testerr.None(t, first.keys.Check(t.Context()))
	testerr.Must(t, first.db.AutoMigrate(&Order{}))
	if n := first.orders(t, "x"); n != 0 {
		t.Errorf("%d orders", n)
	}
}

// pausing has the first request at a step wait until it is let on.
func (s *shop) pausing(step string) (arrived, goOn chan struct{}) {
	arrived, goOn = make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	s.at = func(at string) {
		if at == step && first.CompareAndSwap(false, true) {
			close(arrived)
			<-goOn
		}
	}
	return arrived, goOn
}

// await waits for what a request is to do, and ends the test where it does not.
func await(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the request has not come that far")
	}
}

// checkConcurrent sends a repetition while the first request runs.
func (d Database) checkConcurrent(t *testing.T) {
	for _, wait := range []time.Duration{pathlock.NoWait, 30 * time.Millisecond, time.Minute} {
		s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: wait})
		arrived, goOn := s.pausing("claimed")
		k := key()
		one := ask{path: "/plain", key: k, body: item(k)}
		var clients sync.WaitGroup
		clients.Go(func() { s.send(one).is(t, http.StatusCreated, false, "") })
		await(t, arrived)
		if wait == time.Minute {
			clients.Go(func() { other.send(one).is(t, http.StatusCreated, true, "") })
			close(goOn)
			clients.Wait()
		} else {
			a := other.send(one)
			a.is(t, http.StatusConflict, false, "idempotency-key-in-use")
			if a.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			close(goOn)
			clients.Wait()
			other.send(one).is(t, http.StatusCreated, true, "")
		}
		s.expectOrders(t, k, 1)
	}
}

// lapse ends all leases.
func (s *shop) lapse(t *testing.T) {
	t.Helper()
	testerr.Must(t, s.db.Exec("UPDATE "+"pathlock_idempotency"+" SET leased_until = 0").Error)
}

// checkTakenOver has a repetition take the place of a request that takes too long: the request
// cannot commit any more, at whatever step it is.
func (d Database) checkTakenOver(t *testing.T) {
	for _, path := range []string{"/plain", "/recorded", "/implicit"} {
		s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: pathlock.NoWait})
		arrived, goOn := s.pausing("claimed")
		k := key()
		one := ask{path: path, key: k, body: item(k)}
		var clients sync.WaitGroup
		clients.Go(func() { s.send(one).is(t, http.StatusConflict, false, "idempotency-key-in-use") })
		await(t, arrived)
		other.send(one).is(t, http.StatusConflict, false, "idempotency-key-in-use")
		s.lapse(t)
		winner := other.send(one)
		winner.is(t, http.StatusCreated, false, "")
		close(goOn)
		clients.Wait()
		again := s.send(one)
		again.is(t, http.StatusCreated, true, "")
		if n := s.orders(t, k); n != 1 || again.body != winner.body {
			t.Errorf("%s: %d orders, %q and %q", path, n, winner.body, again.body)
		}
	}
	t.Run("by one of two", d.checkTakenOverOnce)
	t.Run("not within the transaction", d.checkAsleep)
	t.Run("after the end", d.checkAfterTheEnd)
	t.Run("not after the commit", func(t *testing.T) {
		s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: pathlock.NoWait})
		arrived, goOn := s.pausing("committed")
		k := key()
		one := ask{path: "/plain", key: k, body: item(k)}
		var clients sync.WaitGroup
		clients.Go(func() { s.send(one).is(t, http.StatusCreated, false, "") })
		await(t, arrived)
		other.send(one).is(t, http.StatusConflict, false, "idempotency-key-in-use")
		s.lapse(t)
		other.send(one).is(t, http.StatusConflict, false, "idempotency-answer-lost")
		close(goOn)
		clients.Wait()
		other.send(one).is(t, http.StatusCreated, true, "")
		s.expectOrders(t, k, 1)
	})
}

// checkTakenOverOnce has somebody else take the place of a request just before a repetition does,
// which has seen that the lease had ended. The repetition does not come to its handler.
func (d Database) checkTakenOverOnce(t *testing.T) {
	s, late := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: pathlock.NoWait})
	arrived, goOn := s.pausing("claimed")
	k := key()
	one := ask{path: "/nothing", key: k, body: item(k)}
	var clients sync.WaitGroup
	clients.Go(func() { s.send(one) })
	await(t, arrived)
	s.lapse(t)
	// Whether the other one has gone before the transaction or comes at its beginning is the same.
	_ = late.db.Callback().Raw().Before("gorm:raw").Register("idempotencytest:before", func(db *gorm.DB) {
		const other = "UPDATE pathlock_idempotency SET attempt = 'other', leased_until = expires_at WHERE leased_until = 0"
		_, err := db.Statement.ConnPool.ExecContext(t.Context(), other)
		testerr.None(t, err)
	})
	late.at = func(step string) {
		if step == "claimed" {
			t.Error("both are at it")
		}
	}
	late.send(one).is(t, http.StatusConflict, false, "idempotency-key-in-use")
	close(goOn)
	clients.Wait()
}

// checkExpiry checks that old keys count for nothing, and are deleted.
func (d Database) checkExpiry(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	k := key()
	one := ask{path: "/plain", key: k, body: item(k)}
	expire := func() {
		t.Helper()
		testerr.Must(t, s.db.Exec("UPDATE "+"pathlock_idempotency"+" SET expires_at = 1").Error)
	}
	s.send(one).is(t, http.StatusCreated, false, "")
	s.send(one).is(t, http.StatusCreated, true, "")
	expire()
	one.body = item(k + "2")
	s.send(one).is(t, http.StatusCreated, false, "")
	s.send(one).is(t, http.StatusCreated, true, "")
	testerr.Must(t, testerr.Of(s.keys.Purge(t.Context())))
	s.send(one).is(t, http.StatusCreated, true, "")
	expire()
	const old = 1100 // more than two batches
	const insert = "INSERT INTO pathlock_idempotency (id, fingerprint, attempt, state, commits, status, leased_until, expires_at) VALUES (?, '', '', 0, 0, 0, 0, 1)"
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

// checkStorm has many clients send the same few requests to two instances at once.
func (d Database) checkStorm(t *testing.T) {
	const keys, copies = 12, 12
	shops := []*shop{d.open(t, idempotency.Config{Wait: time.Minute}), d.open(t, idempotency.Config{Wait: time.Minute})}
	paths := []string{"/recorded", "/plain", "/implicit"}
	var clients sync.WaitGroup
	begin := make(chan struct{})
	for i := range keys {
		k := key()
		one := ask{path: paths[i%len(paths)], key: k, body: item(k)}
		var answers [copies]answer
		for n := range copies {
			clients.Go(func() {
				<-begin
				answers[n] = shops[n%len(shops)].send(one)
			})
		}
		defer func() {
			fresh := 0
			for _, a := range answers {
				a.is(t, http.StatusCreated, a.replayed, "")
				if a.body != answers[0].body {
					t.Errorf("%s: %q and %q", one.path, a.body, answers[0].body)
				}
				if !a.replayed {
					fresh++
				}
			}
			if n := shops[0].orders(t, k); n != 1 || fresh != 1 {
				t.Errorf("%s: %d orders, %d answers that were no repetitions", one.path, n, fresh)
			}
		}()
	}
	close(begin)
	clients.Wait()
}

// checkAsleep has a process sleep past its lease within the transaction that has recorded the
// answer. A repetition is refused as while the request runs: it does not wait for the transaction.
func (d Database) checkAsleep(t *testing.T) {
	s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: pathlock.NoWait})
	if s.db.Name() == "sqlite" {
		t.Skip("whoever writes has the whole database: a repetition waits for the busy timeout, as all who write do")
	}
	asleep, awake := make(chan struct{}), make(chan struct{})
	wake := sync.OnceFunc(func() { close(awake) })
	s.at = func(step string) {
		switch step {
		case "claimed":
			s.lapse(t)
		case "recorded":
			close(asleep)
			<-awake
		}
	}
	k := key()
	one := ask{path: "/recorded", key: k, body: item(k)}
	var first sync.WaitGroup
	first.Go(func() { s.send(one).is(t, http.StatusCreated, false, "") })
	await(t, asleep)
	// Who waits for the transaction gets its answer once it ends, which is not what is wanted.
	alarm := time.AfterFunc(20*time.Second, wake)
	for range 3 {
		other.send(one).is(t, http.StatusConflict, false, "idempotency-key-in-use")
	}
	alarm.Stop()
	wake()
	first.Wait()
	other.send(one).is(t, http.StatusCreated, true, "")
	s.expectOrders(t, k, 1)
}

// checkAfterTheEnd commits under the request's context after its answer: behind a failure, whose
// repetition would have the effect again, that is refused, and the error does not blame anybody.
func (d Database) checkAfterTheEnd(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	var late context.Context
	s.gin.POST("/late/:status", s.keys.Handle, func(c *gin.Context) {
		late = context.WithoutCancel(c.Request.Context())
		c.Status(map[string]int{"500": http.StatusInternalServerError, "202": http.StatusAccepted}[c.Param("status")])
	})
	for status, want := range map[string]error{"500": idempotency.ErrEnded, "202": nil} {
		k := key()
		s.send(ask{path: "/late/" + status, key: k})
		err := gormplugin.Transaction(late, s.db, func(tx *gorm.DB) error { return tx.Create(&Order{Item: k}).Error })
		if !errors.Is(err, want) || errors.Is(err, idempotency.ErrTakenOver) {
			t.Errorf("after %s: %v, want %v", status, err, want)
		}
		if n := s.orders(t, k); (n == 0) != (want != nil) {
			t.Errorf("after %s: %d orders", status, n)
		}
	}
}
