package idempotencytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/idempotency"
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool, err := s.db.DB()
		if err != nil {
			t.Fatal(err)
		}
		if n := pool.Stats().InUse; n != 0 {
			t.Errorf("%d connections are in use", n)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run checks everything.
func Run(t *testing.T, d Database) {
	t.Helper()
	t.Run("tables", d.checkTables)
	t.Run("replays", d.checkReplays)
	t.Run("refusals", d.checkRefusals)
	t.Run("what is recorded", d.checkRecorded)
	t.Run("answers cut short", d.checkCutShort)
	t.Run("headers of others", d.checkHeadersOfOthers)
	t.Run("answers of others", d.checkAnswersOfOthers)
	t.Run("failures by going", d.checkFailuresByGoing)
	t.Run("bodies read before", d.checkBodiesReadBefore)
	t.Run("slow bodies", d.checkSlowBodies)
	t.Run("handled twice", d.checkHandledTwice)
	t.Run("handed on", d.checkHandleContext)
	t.Run("unrouted", d.checkUnrouted)
	t.Run("outer request", d.checkOuterRequest)
	t.Run("pools", d.checkPools)
	t.Run("a pool that is taken over", d.checkPoolTakenOver)
	t.Run("concurrent", d.checkConcurrent)
	t.Run("taken over", d.checkTakenOver)
	t.Run("expiry", d.checkExpiry)
	t.Run("storm", d.checkStorm)
	t.Run("killed", d.checkKilled)
}

// key returns a key that nobody else uses.
func key() string { return fmt.Sprintf("%x", rand.Uint64()) }

// checkTables makes the table of keys on several instances at once.
func (d Database) checkTables(t *testing.T) {
	first := d.open(t, idempotency.Config{})
	if err := first.keys.Check(t.Context()); err == nil || !strings.Contains(err.Error(), idempotency.DefaultTable) {
		t.Errorf("without the table: %v", err)
	}
	if a := first.send(ask{path: "/plain", key: key(), body: item("x")}); a.status < http.StatusInternalServerError {
		t.Errorf("without the table: %d %s", a.status, a.body)
	}
	var makers sync.WaitGroup
	for range 5 {
		s := d.open(t, idempotency.Config{})
		makers.Go(func() {
			if err := s.keys.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	makers.Wait()
	if err := first.keys.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := first.db.AutoMigrate(&Order{}); err != nil {
		t.Fatal(err)
	}
	if n := first.orders(t, "x"); n != 0 {
		t.Errorf("%d orders", n)
	}
}

// checkReplays sends each kind of request twice.
func (d Database) checkReplays(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	for _, path := range []string{"/recorded", "/plain", "/implicit", "/nothing"} {
		k := key()
		one := ask{path: path, key: k, body: item(k)}
		first := s.send(one)
		first.is(t, http.StatusCreated, false, "")
		quoted := one
		quoted.key = `"` + k + `"`
		for _, again := range []ask{one, quoted} {
			second := s.send(again)
			second.is(t, http.StatusCreated, true, "")
			if second.body != first.body || second.header.Get("Content-Type") != first.header.Get("Content-Type") || second.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: first %q, then %q with %v", path, first.body, second.body, second.header)
			}
			if path != "/recorded" && second.header.Get("Location") != first.header.Get("Location") {
				t.Errorf("%s: the headers are %v", path, second.header)
			}
		}
		want := int64(1)
		if path == "/nothing" {
			want = 0
		}
		if n := s.orders(t, k); n != want {
			t.Errorf("%s: %d orders", path, n)
		}
	}
	// Without a key, and by methods that change nothing, everything is as it was.
	k := key()
	for range 2 {
		s.send(ask{path: "/recorded", body: item(k)}).is(t, http.StatusCreated, false, "")
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/recorded", strings.NewReader(item(k)))
		r.Header.Set(idempotency.Header, k)
		s.serve(r).is(t, http.StatusCreated, false, "")
	}
	if n := s.orders(t, k); n != 4 {
		t.Errorf("%d orders without a key", n)
	}
}

// checkRefusals sends keys in ways in which they cannot be sent.
func (d Database) checkRefusals(t *testing.T) {
	s := d.open(t, idempotency.Config{Required: true, MaxBody: 100, Documentation: "https://example.com/keys"})
	s.send(ask{path: "/plain", body: item("x")}).is(t, http.StatusBadRequest, false, "idempotency-key-missing")
	for _, malformed := range []string{`"`, `""`, `"a"b"`, `"a\b"`, `a b`, `"a";b=1`, "a,b", "\"\x80\"", strings.Repeat("x", 256)} {
		s.send(ask{path: "/plain", key: malformed, body: item("x")}).is(t, http.StatusBadRequest, false, "idempotency-key-malformed")
	}
	twice := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/plain", strings.NewReader(item("x")))
	twice.Header[idempotency.Header] = []string{"a", "a"}
	s.serve(twice).is(t, http.StatusBadRequest, false, "idempotency-key-malformed")
	s.send(ask{path: "/plain", key: key(), body: strings.Repeat("x", 101)}).is(t, http.StatusRequestEntityTooLarge, false, "too-large")
	if n := s.orders(t, "x"); n != 0 {
		t.Errorf("%d orders", n)
	}

	k := key()
	one := ask{path: "/plain", key: k, user: "ann", body: item(k)}
	s.send(one).is(t, http.StatusCreated, false, "")
	for _, other := range []ask{
		{"/plain", k, "ann", item(k) + " "}, {"/plain?x=1", k, "ann", item(k)}, {"/recorded", k, "ann", item(k)},
	} {
		a := s.send(other)
		a.is(t, http.StatusUnprocessableEntity, false, "idempotency-key-reused")
		if !strings.Contains(a.header.Get("Link"), "https://example.com/keys") {
			t.Errorf("the headers are %v", a.header)
		}
	}
	// Letter case counts, and somebody else's key is another one.
	s.send(ask{"/plain", strings.ToUpper(k + "z"), "ann", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(ask{"/plain", k + "z", "ann", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(ask{"/plain", k, "bob", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(ask{"/plain", "nn" + k, "a", item(k)}).is(t, http.StatusCreated, false, "")
	s.send(one).is(t, http.StatusCreated, true, "")
	if n := s.orders(t, k); n != 5 {
		t.Errorf("%d orders", n)
	}
}

// checkRecorded checks which answers a repetition gets, and which requests run again.
func (d Database) checkRecorded(t *testing.T) {
	s := d.open(t, idempotency.Config{MaxAnswer: 2 << 10})
	for _, c := range []struct {
		status   string
		commits  bool
		first    int
		then     int
		replayed bool
		problem  string
	}{
		{"200", false, 200, 200, true, ""},
		{"204", true, 204, 204, true, ""},
		{"303", true, 303, 303, true, ""},
		{"400", false, 400, 400, true, ""},
		{"404", false, 404, 404, true, ""},
		{"422", false, 422, 422, true, ""},
		{"401", false, 401, 401, false, ""},
		{"409", false, 409, 409, false, ""},
		{"423", false, 423, 423, false, ""},
		{"429", false, 429, 429, false, ""},
		{"500", false, 500, 500, false, ""},
		{"503", false, 503, 503, false, ""},
		{"panic", false, 500, 500, false, ""},
		// What has taken place does not take place again, whatever was answered.
		{"423", true, 423, 409, false, "idempotency-answer-lost"},
		{"503", true, 503, 409, false, "idempotency-answer-lost"},
		{"panic", true, 500, 409, false, "idempotency-answer-lost"},
	} {
		k := key()
		one := ask{path: map[bool]string{true: "/answer/yes/", false: "/answer/no/"}[c.commits] + c.status, key: k, body: item(k)}
		s.send(one).is(t, c.first, false, "")
		s.send(one).is(t, c.then, c.replayed, c.problem)
		if n := s.orders(t, k); n > 1 || (n == 1) != c.commits {
			t.Errorf("%v: %d orders", c, n)
		}
	}
	k := key()
	s.send(ask{path: "/large", key: k}).is(t, http.StatusOK, false, "")
	s.send(ask{path: "/large", key: k}).is(t, http.StatusConflict, false, "idempotency-answer-lost")
	// A transaction that only reads has no effect.
	for range 2 {
		s.send(ask{path: "/read", key: k + "r"}).is(t, http.StatusServiceUnavailable, false, "")
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
	for _, wait := range []time.Duration{idempotency.NoWait, 30 * time.Millisecond, time.Minute} {
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
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%d orders", n)
		}
	}
	t.Run("the client goes away", func(t *testing.T) {
		s := d.open(t, idempotency.Config{Wait: time.Minute})
		arrived, goOn := s.pausing("claimed")
		k := key()
		one := ask{path: "/plain", key: k, body: item(k)}
		var clients sync.WaitGroup
		clients.Go(func() { s.send(one).is(t, http.StatusCreated, false, "") })
		await(t, arrived)
		ctx, cancel := context.WithCancel(t.Context())
		clients.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, one.path, strings.NewReader(one.body))
			r.Header.Set(idempotency.Header, k)
			s.serve(r).is(t, 499, false, "")
			close(goOn)
		})
		cancel()
		clients.Wait()
	})
}

// lapse ends all leases.
func (s *shop) lapse(t *testing.T) {
	t.Helper()
	if err := s.db.Exec("UPDATE " + idempotency.DefaultTable + " SET leased_until = 0").Error; err != nil {
		t.Fatal(err)
	}
}

// checkTakenOver has a repetition take the place of a request that takes too long: the request
// cannot commit any more, at whatever step it is.
func (d Database) checkTakenOver(t *testing.T) {
	for _, path := range []string{"/plain", "/recorded", "/implicit"} {
		s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: idempotency.NoWait})
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
	t.Run("not within the transaction", d.checkAsleep)
	t.Run("after the end", d.checkAfterTheEnd)
	t.Run("not after the commit", func(t *testing.T) {
		s, other := d.open(t, idempotency.Config{}), d.open(t, idempotency.Config{Wait: idempotency.NoWait})
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
		if n := s.orders(t, k); n != 1 {
			t.Errorf("%d orders", n)
		}
	})
}

// checkExpiry checks that old keys count for nothing, and are deleted.
func (d Database) checkExpiry(t *testing.T) {
	s := d.open(t, idempotency.Config{})
	k := key()
	one := ask{path: "/plain", key: k, body: item(k)}
	expire := func() {
		t.Helper()
		if err := s.db.Exec("UPDATE " + idempotency.DefaultTable + " SET expires_at = 1").Error; err != nil {
			t.Fatal(err)
		}
	}
	s.send(one).is(t, http.StatusCreated, false, "")
	s.send(one).is(t, http.StatusCreated, true, "")
	expire()
	one.body = item(k + "2")
	s.send(one).is(t, http.StatusCreated, false, "")
	s.send(one).is(t, http.StatusCreated, true, "")
	if _, err := s.keys.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.send(one).is(t, http.StatusCreated, true, "")
	for i := range 1100 {
		insert := "INSERT INTO " + idempotency.DefaultTable + " (id, fingerprint, attempt, state, commits, status, leased_until, expires_at) VALUES (?, '', '', 0, 0, 0, 0, 1)"
		if i == 0 {
			expire()
		}
		if err := s.db.Exec(insert, fmt.Sprint(k, i)).Error; err != nil {
			t.Fatal(err)
		}
	}
	var rows atomic.Int64
	var purges sync.WaitGroup
	for range 2 {
		purges.Go(func() {
			n, err := s.keys.Purge(t.Context())
			rows.Add(n)
			if err != nil {
				t.Error(err)
			}
		})
	}
	purges.Wait()
	var left int64
	if err := s.db.Table(idempotency.DefaultTable).Count(&left).Error; err != nil || rows.Load() < 1100 || left != 0 {
		t.Errorf("%d deleted, %d left, %v", rows.Load(), left, err)
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
		var fresh atomic.Int64
		var bodies sync.Map
		for n := range copies {
			clients.Go(func() {
				<-begin
				a := shops[n%len(shops)].send(one)
				bodies.Store(a.body, true)
				if a.status != http.StatusCreated {
					t.Errorf("%d %s", a.status, a.body)
				}
				if !a.replayed {
					fresh.Add(1)
				}
			})
		}
		t.Cleanup(func() {
			different := 0
			bodies.Range(func(any, any) bool { different++; return true })
			if n := shops[0].orders(t, k); n != 1 || fresh.Load() != 1 || different != 1 {
				t.Errorf("%s: %d orders, %d answers that were no repetitions, %d different bodies", one.path, n, fresh.Load(), different)
			}
		})
	}
	close(begin)
	clients.Wait()
}
