package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/live"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// stream is a client of a plan's events.
type stream struct {
	*testing.T
	lines *bufio.Scanner
	end   func()
}

// event is one of them.
type event struct{ id, name, data string }

// watch opens a stream. It ends with the test at the latest.
func watch(t *testing.T, api *apitest.API, plan int64, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/plans/%d/events", api.URL, plan), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	end := func() { cancel(); _ = resp.Body.Close() }
	t.Cleanup(end)
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-store"} {
		if got := resp.Header.Get(name); resp.StatusCode != http.StatusOK || got != want {
			t.Fatalf("the stream: %s, %s %q, want %q", resp.Status, name, got, want)
		}
	}
	return &stream{t, bufio.NewScanner(resp.Body), end}
}

// next returns the next event of a name, and false at the end of the stream.
func (s *stream) next(name string) (event, bool) {
	var e event
	for s.lines.Scan() {
		switch field, value, _ := strings.Cut(s.lines.Text(), ": "); field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.name == name {
				return e, true
			}
			e = event{}
		}
	}
	return event{}, false
}

// revision awaits a change.
func (s *stream) revision() int64 {
	s.Helper()
	e, ok := s.next("changed")
	var data struct{ Revision int64 }
	if err := json.Unmarshal([]byte(e.data), &data); !ok || err != nil || e.id != fmt.Sprint(data.Revision) {
		s.Fatalf("no change: %v, %v", e, err)
	}
	return data.Revision
}

// Each write to a plan is told on both instances, those under a lock's token too.
func TestChangesAreToldOnEveryInstance(t *testing.T) {
	lockers(t, func(p *pair) {
		plan := p.ids["plan"]
		here, there := watch(p.T, p.here, plan), watch(p.T, p.there, plan)
		seen := max(here.revision(), there.revision())
		token, _ := p.lock("d", `{"for":"10m"}`)
		for _, tt := range []struct {
			request, token string
			status         int
		}{
			{`POST /api/plans/{plan}/suites {"parent_id":{root},"name":"new"}`, "", 201},
			{`PATCH /api/suites/{a} {"name":"x"}`, "", 200},
			{`PATCH /api/suites/{d} {"name":"y"}`, token, 200},
			{`POST /api/suites/{b}/move {"parent_id":{root}}`, "", 200},
			{`POST /api/suites/{b}/copy {"parent_id":{root},"name":"copy"}`, "", 201},
			{`POST /api/suites/{b}/cases {"name":"n"}`, "", 201},
			{`PATCH /api/cases/{k} {"body":"z"}`, "", 200},
			{`POST /api/cases/{k}/move {"suite_id":{c}}`, "", 200},
			{`POST /api/cases/{k}/copy {"suite_id":{b},"name":"l"}`, "", 201},
			{`DELETE /api/cases/{k}`, "", 204},
			{`DELETE /api/suites/{a}`, "", 204},
			{`POST /api/plans/{plan}/import {"suites":["p/q"]}`, "", 200},
			{`DELETE /api/plans/{plan}/recycle-bin`, "", 204},
		} {
			p.is(p.here, tt.request, tt.token, tt.status, "")
			for _, s := range []*stream{here, there} {
				for got := int64(0); got <= seen; {
					got = s.revision()
				}
			}
			var tree struct{ Revision int64 }
			if err := json.Unmarshal(p.there.Do(p, "GET", p.path("/api/plans/{plan}/tree"), "").Body, &tree); err != nil || tree.Revision <= seen {
				p.Fatalf("after %s, the tree's revision is %d, was %d: %v", tt.request, tree.Revision, seen, err)
			}
			seen = tree.Revision
		}
		p.is(p.here, `DELETE /api/suites/{d}/lock`, token, 204, "")
		// Who reconnects is told nothing that it knows.
		again := watch(p.T, p.there, plan, "Last-Event-ID", fmt.Sprint(seen))
		p.is(p.here, `PATCH /api/suites/{c} {"name":"last"}`, "", 200, "")
		if got := again.revision(); got <= seen {
			p.Errorf("revision %d is told again, after %d", got, seen)
		}
		p.is(p.here, `DELETE /api/plans/{plan}`, "", 204, "")
		for _, s := range []*stream{here, there, again} {
			if _, ok := s.next("gone"); !ok {
				p.Error("the end of the plan is not told")
			}
		}
	})
}

// Who holds and who waits is told on both instances, by suite.
func TestLocksAreToldOnEveryInstance(t *testing.T) {
	lockers(t, func(p *pair) {
		type holder struct {
			What     string
			Detached bool
			Since    time.Time
			Claims   []struct {
				SuiteID int64 `json:"suite_id"`
				Exact   bool
				Mode    string
			}
		}
		type locks struct{ Holders, Waiters []holder }
		streams := []*stream{watch(p.T, p.here, p.ids["plan"]), watch(p.T, p.there, p.ids["plan"])}
		await := func(holders int) locks {
			p.Helper()
			var last locks
			for _, s := range streams {
				for {
					e, ok := s.next("locks")
					var data struct {
						Now   time.Time
						Locks locks
					}
					if err := json.Unmarshal([]byte(e.data), &data); !ok || err != nil || data.Now.IsZero() {
						p.Fatalf("no locks: %q, %v", e.data, err)
					}
					if last = data.Locks; len(last.Holders) == holders {
						break
					}
				}
			}
			return last
		}
		await(0)
		token, _ := p.lock("b", `{"for":"10m","note":"Anna is editing"}`)
		got := await(1)
		if h := got.Holders[0]; h.What != "Anna is editing" || !h.Detached || h.Since.IsZero() || len(h.Claims) != 1 ||
			h.Claims[0].SuiteID != p.ids["b"] || !h.Claims[0].Exact || h.Claims[0].Mode != "X" {
			p.Errorf("the holder is %+v", h)
		}
		var asked struct {
			Revision int64
			Now      time.Time
			locks
		}
		if err := json.Unmarshal(p.there.Do(p, "GET", p.path("/api/plans/{plan}/locks"), "").Body, &asked); err != nil || len(asked.Holders) != 1 || asked.Now.IsZero() {
			p.Errorf("GET …/locks: %+v, %v", asked, err)
		}
		body := p.there.Do(p, "GET", p.path("/api/plans/{plan}/locks"), "").Body
		if strings.Contains(string(body), "owner") || strings.Contains(string(body), token) {
			p.Errorf("the locks show what releases them: %s", body)
		}
		p.is(p.there, `DELETE /api/suites/{b}/lock`, token, 204, "")
		await(0)
		p.is(p.there, `GET /api/plans/999999/locks`, "", 404, "not-found")
		p.is(p.there, `GET /api/plans/999999/events`, "", 404, "not-found")
	})
}

// The stop of an instance ends its streams, and opens no more.
func TestStreamsEndWithTheInstance(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "events")
	s := watch(t, api, ids["plan"])
	s.revision()
	api.Feed.Stop()
	if e, ok := s.next("changed"); ok {
		t.Errorf("the stream goes on: %v", e)
	}
	if answer := api.Do(t, "GET", fmt.Sprintf("/api/plans/%d/events", ids["plan"]), ""); answer.Status != http.StatusServiceUnavailable {
		t.Errorf("a stream of a stopped instance: %d", answer.Status)
	}
}

// An instance serves a bounded number of streams.
func TestStreamsAreBounded(t *testing.T) {
	api := apitest.Start(t, instance.Config{DB: testdb.SQLite(t), Locks: "memory://", Assert: true})
	ids := fixture(t, api, "events")
	for range live.MaxWatches {
		w, err := api.Feed.Watch(ids["plan"])
		if err != nil {
			t.Fatal(err)
		}
		defer api.Feed.Leave(w)
	}
	answer := api.Do(t, "GET", fmt.Sprintf("/api/plans/%d/events", ids["plan"]), "")
	if answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many: %d %v", answer.Status, answer.Header)
	}
}
