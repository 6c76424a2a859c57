package adminapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api is a page with something to show, and its document.
type api struct {
	*testing.T
	server   *httptest.Server
	locker   *pathlock.Locker
	history  *contention.Recorder
	page     *admin.Page
	document *v3.Document
	check    validator.Validator
	seen     map[string]bool // operations and statuses
}

// unavailable is a store that gives no snapshots.
type unavailable struct{ *memstore.Store }

func (unavailable) Snapshot(context.Context, pathlock.Tree) (pathlock.Snapshot, error) {
	return pathlock.Snapshot{}, pathlock.ErrUnavailable
}

func start(t *testing.T, store pathlock.Store, config func(*admin.Config)) *api {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	history := contention.New(store, contention.Config{Log: quiet})
	t.Cleanup(history.Close)
	a := &api{T: t, history: history, seen: map[string]bool{}}
	a.locker = pathlock.New(store, pathlock.WithObserver(history), pathlock.WithLogger(quiet))
	// The document's paths begin where the page is mounted.
	c := admin.Config{
		Prefix: "/", History: history, Log: quiet, Poll: 20 * time.Millisecond,
		Authorize:        func(*http.Request) error { return nil },
		AuthorizeRelease: func(*http.Request) (string, error) { return "ann", nil },
	}
	if config != nil {
		config(&c)
	}
	page, err := admin.New(a.locker, c)
	if err != nil {
		t.Fatal(err)
	}
	a.page = page
	a.server = httptest.NewServer(page)
	t.Cleanup(a.server.Close)
	t.Cleanup(page.Close)

	document, err := libopenapi.NewDocument(a.text())
	if err != nil {
		t.Fatal(err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	a.document = &model.Model
	var problems []error
	if a.check, problems = validator.NewValidator(document); len(problems) > 0 {
		t.Fatal(errors.Join(problems...))
	}
	return a
}

// text returns the document as the page serves it, without the server's address: paths are
// absolute here.
func (a *api) text() []byte {
	a.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(a.Context(), "GET", "/openapi.json", nil)
	quiet, err := admin.New(a.locker, admin.Config{Prefix: "/", Authorize: func(*http.Request) error { return nil }})
	if err != nil {
		a.Fatal(err)
	}
	defer quiet.Close()
	quiet.ServeHTTP(recorder, request)
	var document map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &document); err != nil {
		a.Fatal(err)
	}
	delete(document, "servers")
	text, err := json.Marshal(document)
	if err != nil {
		a.Fatal(err)
	}
	return text
}

// ask sends a request, and fails the test if the answer is not what the document says.
func (a *api) ask(method, path, body string, status int, headers ...string) []byte {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), method, a.server.URL+path, strings.NewReader(body))
	if err != nil {
		a.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := a.server.Client().Do(request)
	if err != nil {
		a.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		a.Fatal(err)
	}
	if response.StatusCode != status {
		a.Fatalf("%s %s: %d %s, want %d", method, path, response.StatusCode, got, status)
	}
	response.Body = io.NopCloser(bytes.NewReader(got))
	if ok, problems := a.check.ValidateHttpResponse(request, response); !ok {
		for _, p := range problems {
			a.Errorf("%s %s: %s: %s %v\n%s", method, path, p.Message, p.Reason, p.SchemaValidationErrors, got)
		}
	}
	where, _, _ := strings.Cut(path, "?")
	a.seen[method+" "+where+" "+response.Status[:3]] = true
	return got
}

func TestTheDocumentIsValid(t *testing.T) {
	a := start(t, memstore.New(), nil)
	if ok, problems := a.check.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("%s: %s %v", p.Message, p.Reason, p.SchemaValidationErrors)
		}
	}
	if a.document.Version != "3.1.0" {
		t.Errorf("OpenAPI %s", a.document.Version)
	}
}

// An answer that the document does not describe has to be noticed, or the tests here prove nothing.
func TestAWrongAnswerIsNoticed(t *testing.T) {
	a := start(t, memstore.New(), nil)
	request := httptest.NewRequestWithContext(t.Context(), "GET", "/api/about", nil)
	for _, wrong := range []string{
		`{}`, `{"instance":"a","may_release":"yes","history":true,"poll_ms":1,"now":"2026-01-01T00:00:00Z"}`,
		`{"instance":"a","may_release":true,"history":true,"poll_ms":1,"now":"2026-01-01T00:00:00Z","surprise":1}`,
	} {
		response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(wrong))}
		if ok, _ := a.check.ValidateHttpResponse(request, response); ok {
			t.Errorf("%s passes", wrong)
		}
	}
}

var plan = func() pathlock.Tree {
	tree, err := pathlock.NewTree("testplan", "7")
	if err != nil {
		panic(err)
	}
	return tree
}()

// stall makes somebody hold, others wait, and one of them give up.
func (a *api) stall() (*pathlock.Lock, <-chan error) {
	a.Helper()
	ctx := pathlock.WithOrigin(a.Context(), pathlock.Origin{Operation: "import", Route: "POST /import", RequestID: "r-1", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
	request := pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Note: "import"}
	lock, err := a.locker.Acquire(ctx, request)
	if err != nil {
		a.Fatal(err)
	}
	request.Wait, request.Note = 100*time.Millisecond, "rename"
	if _, err := a.locker.Acquire(a.Context(), request); !errors.Is(err, pathlock.ErrConflict) {
		a.Fatal(err)
	}
	waits := make(chan error, 1)
	go func() {
		gate, err := a.locker.Acquire(a.Context(), pathlock.Request{Tree: plan, Gate: true, Wait: time.Minute, Note: "rename the plan"})
		if err == nil {
			err = gate.Release(context.WithoutCancel(a.Context()))
		}
		waits <- err
	}()
	for {
		s, err := a.locker.Snapshot(a.Context(), plan)
		if err != nil {
			a.Fatal(err)
		}
		if len(s.Waiters) == 1 {
			return lock, waits
		}
	}
}

func TestAnswersAreWhatTheDocumentSays(t *testing.T) {
	a := start(t, memstore.New(), nil)
	lock, waits := a.stall()
	a.ask("GET", "/api/about", "", 200)
	a.ask("GET", "/api/trees", "", 200)
	got := a.ask("GET", "/api/tree?namespace=testplan&id=7", "", 200)
	a.ask("GET", "/api/tree?namespace=testplan&id=nobody", "", 200)
	for _, sort := range []string{"", "?sort=last", "?sort=longest", "?sort=waiter_seconds", "?sort=waits"} {
		a.ask("GET", "/api/history"+sort, "", 200)
	}
	a.ask("GET", "/openapi.json", "", 200)
	a.ask("GET", "/api/tree?namespace=&id=7", "", 400)
	a.ask("GET", "/api/history?sort=color", "", 400)
	a.ask("GET", "/api/events?namespace=a&id=", "", 400)
	for _, path := range []string{"/api/about", "/api/trees", "/api/tree?namespace=a&id=b", "/api/history", "/api/events"} {
		a.ask("GET", path, "", 403, "Sec-Fetch-Site", "cross-site")
	}

	var tree struct {
		Entries []struct {
			Key string
		}
	}
	if err := json.Unmarshal(got, &tree); err != nil || len(tree.Entries) != 2 {
		t.Fatal(err, string(got))
	}
	release := func(key, reason string) string {
		body, err := json.Marshal(map[string]any{"namespace": "testplan", "id": "7", "key": key, "reason": reason})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	key := tree.Entries[0].Key
	a.ask("POST", "/api/release", release(key, "no"), 400)
	a.ask("POST", "/api/release", release(key+"x", "stuck"), 409)
	a.ask("POST", "/api/release", release(key, strings.Repeat("x", 5000)), 413)
	a.ask("POST", "/api/release", release(key, "stuck"), 415, "Content-Type", "text/plain")
	a.ask("POST", "/api/release", release(key, "stuck"), 403, "Origin", "https://evil.example")
	a.ask("POST", "/api/release", release(key, "stuck"), 200)
	<-lock.Context().Done()
	if err := <-waits; err != nil {
		t.Error(err)
	}
	a.ask("GET", "/api/history", "", 200)
	a.page.Close()
	a.ask("GET", "/api/about", "", 503)
}

func TestFailuresAreWhatTheDocumentSays(t *testing.T) {
	body := `{"namespace":"a","id":"b","key":"c","reason":"stuck"}`
	nobody := start(t, memstore.New(), func(c *admin.Config) { c.Authorize = func(*http.Request) error { return admin.ErrUnauthorized } })
	nobody.ask("GET", "/api/trees", "", 401)
	nobody.ask("POST", "/api/release", body, 401)
	foreign := start(t, memstore.New(), func(c *admin.Config) { c.Hosts = []string{"locks.example.com"} })
	foreign.ask("GET", "/api/tree?namespace=a&id=b", "", 421)
	readOnly := start(t, memstore.New(), func(c *admin.Config) { c.AuthorizeRelease, c.History = nil, nil })
	readOnly.ask("POST", "/api/release", body, 403)
	readOnly.ask("GET", "/api/about", "", 200)
	readOnly.ask("GET", "/api/history", "", 404)
	away := start(t, unavailable{memstore.New()}, nil)
	away.ask("GET", "/api/tree?namespace=a&id=b", "", 503)
	away.ask("POST", "/api/release", body, 503)
}

// noticed returns when the history shows both waits of stall.
func (a *api) noticed() {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		waits := 0
		for _, e := range a.history.History().Episodes {
			waits += e.Waits
		}
		if waits == 2 {
			return
		}
		if time.Now().After(deadline) {
			a.Fatal("the history does not show who waits")
		}
	}
}

// The data of each event is what the document names for it.
func TestEventsAreWhatTheDocumentSays(t *testing.T) {
	a := start(t, memstore.New(), func(c *admin.Config) { c.StreamFor = 5 * time.Second })
	lock, waits := a.stall()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.server.URL+"/api/events?namespace=testplan&id=7", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := a.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	events, _ := a.document.Paths.PathItems.Get("/api/events")
	schemas := schema_validation.NewSchemaValidator()
	missing := map[string]bool{"ping": true, "trees": true, "tree": true, "change": true, "history": true, "bye": true}
	lines := bufio.NewScanner(response.Body)
	event := ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "data":
			_, name, ok := strings.Cut(events.Get.Description, " "+event+": ")
			if !ok {
				t.Errorf("the document does not know the event %s", event)
				continue
			}
			schema, ok := a.document.Components.Schemas.Get(name[:strings.IndexAny(name, ";.")])
			if !ok {
				t.Fatalf("the document has no schema of the event %s", event)
			}
			if ok, problems := schemas.ValidateSchemaString(schema.Schema(), value); !ok {
				for _, p := range problems {
					t.Errorf("%s: %s %s %v\n%s", event, p.Message, p.Reason, p.SchemaValidationErrors, value)
				}
			}
			if event == "tree" {
				a.noticed()
				if err := lock.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			delete(missing, event)
		}
	}
	for event := range missing {
		t.Errorf("there was no event %s", event)
	}
	if err := <-waits; err != nil {
		t.Error(err)
	}
}
