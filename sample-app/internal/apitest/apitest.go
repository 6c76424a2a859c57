// Package apitest runs instances of the backend in tests, and talks to them as any client does.
package apitest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// Backend is a database and a lock store to test with.
type Backend struct {
	Name  string
	DB    string
	Locks string
}

// Backends returns SQLite with locks in SQLite, and each database server that the tests have with
// Redis.
func Backends(t testing.TB) []Backend {
	t.Helper()
	var all []Backend
	for _, db := range testdb.All(t) {
		switch {
		case db.Name == "SQLite":
			all = append(all, Backend{db.Name, db.URL, db.URL})
		case testserver.Available(testserver.RedisVariable):
			all = append(all, Backend{db.Name + " and Redis", db.URL, testserver.Redis(t)})
		}
	}
	return all
}

// API is an instance that listens.
type API struct {
	*instance.Instance
	URL string

	client *http.Client // nil for the default one
}

// Start serves an instance until the end of the test.
func Start(t testing.TB, config instance.Config) *API {
	t.Helper()
	if config.Log == nil {
		config.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	}
	if config.Namespace == "" {
		// Tests, and several runs of them, share the lock store while their databases have the same
		// ids.
		config.Namespace = "test-" + strings.ToLower(t.Name()+"-"+rand.Text()[:8])
	}
	i, err := instance.Open(t.Context(), config)
	testerr.Must(t, err)
	server := httptest.NewServer(i.Handler)
	t.Cleanup(func() {
		server.Close()
		testerr.None(t, i.Close())
	})
	return &API{i, server.URL, server.Client()}
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request with headers, each followed by its value.
func (a *API) Do(t testing.TB, method, path, body string, headers ...string) Answer {
	t.Helper()
	answer, err := a.Try(t.Context(), method, path, body, headers...)
	testerr.Must(t, err)
	return answer
}

// Try is [API.Do] for any goroutine.
func (a *API) Try(ctx context.Context, method, path, body string, headers ...string) (Answer, error) {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, r)
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	req.Host = req.Header.Get("Host")
	resp, err := cmp.Or(a.client, http.DefaultClient).Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, text}, err
}

// Made sends a request, which must succeed with 200 or 201, and reads the answer.
func Made[T any](t testing.TB, a *API, method, path, body string, headers ...string) T {
	t.Helper()
	var result T
	answer := a.Do(t, method, path, body, headers...)
	if answer.Status != http.StatusOK && answer.Status != http.StatusCreated {
		t.Fatalf("%s %s %s: %d %s", method, path, body, answer.Status, answer.Body)
	}
	testerr.Must(t, json.Unmarshal(answer.Body, &result))
	return result
}
