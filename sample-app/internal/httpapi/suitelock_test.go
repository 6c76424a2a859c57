package httpapi_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// pair is two instances on one database and one lock store, and the fixture's ids.
type pair struct {
	*testing.T
	here, there *apitest.API
	ids         map[string]int64
	namespace   string // of their locks
}

// lockers runs a test on every backend, with two instances.
func lockers(t *testing.T, test func(p *pair)) {
	for _, backend := range apitest.Backends(t) {
		t.Run(backend.Name, func(t *testing.T) {
			namespace := "locks-" + rand.Text()
			var instances []*apitest.API
			for range 2 {
				config := instance.Config{DB: backend.DB, Locks: backend.Locks, Assert: true, Namespace: namespace, Wait: 200 * time.Millisecond, AdminRelease: true}
				instances = append(instances, apitest.Start(t, config))
			}
			test(&pair{t, instances[0], instances[1], fixture(t, instances[0], "locks"), namespace})
		})
	}
}

// lock locks the suite {b}, and returns the token and the end.
func (p *pair) lock(body string) (token string, until time.Time) {
	p.Helper()
	answer := p.here.Do(p, "POST", p.path("/api/suites/{b}/lock"), body)
	return p.locked(answer, http.StatusCreated)
}

// locked reads the answer to a lock of a suite.
func (p *pair) locked(answer apitest.Answer, status int) (token string, until time.Time) {
	p.Helper()
	var got struct {
		Token string
		Until time.Time
	}
	if err := json.Unmarshal(answer.Body, &got); answer.Status != status || err != nil || got.Token == "" {
		p.Fatalf("the lock: %d, %v: %s", answer.Status, err, answer.Body)
	}
	return got.Token, got.Until
}

func (p *pair) path(path string) string { return expand(path, p.ids) }

// is sends a request with a token to an instance, and checks the status and the end of the
// problem's type.
func (p *pair) is(api *apitest.API, request, token string, status int, problem string) map[string]any {
	p.Helper()
	method, rest, _ := strings.Cut(p.path(request), " ")
	path, body, _ := strings.Cut(rest, " ")
	answer := api.Do(p, method, path, body, "Lock-Token", token)
	var got map[string]any
	_ = json.Unmarshal(answer.Body, &got)
	if kind, _ := got["type"].(string); answer.Status != status || problem != "" && kind != "urn:pathlock:problem:"+problem {
		p.Errorf("%s: %d, want %d %s: %s", request, answer.Status, status, problem, answer.Body)
	}
	return got
}

// The other instance knows the lock, and its holder works, prolongs it and releases it there. A
// request that is sent again there under its key gets the first answer.
func TestSuiteLock_isItsHoldersOnEveryInstance(t *testing.T) {
	lockers(t, func(p *pair) {
		before := time.Now()
		token, until := p.lock(`{"for":"10m","note":"Anna edits"}`)
		if until.Sub(before).Round(time.Minute) != 10*time.Minute {
			p.Errorf("it lasts until %v", until)
		}
		for _, request := range []string{`PATCH /api/suites/{b} {"name":"x"}`, `DELETE /api/suites/{c}`, `PATCH /api/plans/{plan} {"name":"x"}`, `POST /api/suites/{a}/lock {"for":"1m"}`} {
			got := p.is(p.there, request, "", http.StatusLocked, "locked")
			holder, _ := got["holder"].(map[string]any)
			if ends, err := time.Parse(time.RFC3339, fmt.Sprint(holder["until"])); err != nil || holder["what"] != "Anna edits" ||
				holder["detached"] != true || ends.Sub(until).Abs() > 5*time.Second {
				p.Errorf("%s: the holder is %v", request, holder)
			}
		}
		p.is(p.there, `PATCH /api/cases/{k} {"body":"Anna's"}`, token, http.StatusOK, "")
		p.is(p.there, `PATCH /api/plans/{plan} {"name":"x"}`, token, http.StatusOK, "")
		again, earlier := p.locked(p.there.Do(p, "PUT", p.path("/api/suites/{b}/lock"), `{"for":"1m"}`, "Lock-Token", token), http.StatusOK)
		if again != token || earlier.Sub(before).Round(time.Minute) != time.Minute {
			p.Errorf("refreshed: %v, the same token: %v", earlier, again == token)
		}
		p.is(p.there, `DELETE /api/suites/{b}/lock`, token, http.StatusNoContent, "")
		p.is(p.here, `PATCH /api/suites/{b} {"name":"x"}`, token, http.StatusConflict, "lock-lost")

		key, path, body := rand.Text(), p.path("/api/plans/{plan}/suites"), p.path(`{"parent_id":{root},"name":"once"}`)
		first, second := p.here.Do(p, "POST", path, body, idempotency.Header, key), p.there.Do(p, "POST", path, body, idempotency.Header, key)
		if first.Status != http.StatusCreated || second.Status != http.StatusCreated || string(first.Body) != string(second.Body) || second.Header.Get(idempotency.ReplayedHeader) != "true" {
			p.Errorf("first %d %s, then %d %s %v", first.Status, first.Body, second.Status, second.Body, second.Header)
		}
	})
}

// The lock follows the suite when its holder moves it.
func TestSuiteLock_goesAlongWithItsSuite(t *testing.T) {
	lockers(t, func(p *pair) {
		for i, change := range []string{
			`PATCH /api/suites/{b} {"name":"x"}`,
			`POST /api/suites/{b}/move {"parent_id":{d}}`,
			`PATCH /api/suites/{a} {"name":"x"}`,
			`POST /api/suites/{a}/move {"parent_id":{d}}`,
		} {
			p.ids = fixture(p.T, p.here, fmt.Sprint("along", i))
			token, _ := p.lock(`{"for":"10m"}`)
			p.is(p.here, change, token, http.StatusOK, "")
			p.is(p.here, `PATCH /api/suites/{b} {"name":"y"}`, "", http.StatusLocked, "locked")
			p.is(p.there, `PATCH /api/cases/{k} {"body":"y"}`, "", http.StatusLocked, "locked")
			p.is(p.there, `PATCH /api/cases/{k} {"body":"y"}`, token, http.StatusOK, "")
			p.is(p.there, `DELETE /api/suites/{b}/lock`, token, http.StatusNoContent, "")
		}
	})
}
