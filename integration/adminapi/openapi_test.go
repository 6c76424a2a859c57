package adminapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The document is valid, and what the page answers is what it says, of every path.
func TestOpenAPI_saysWhatIsAnswered(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	store := memstore.New()
	history := contention.New(store, contention.Config{Log: quiet})
	t.Cleanup(history.Close)
	locker := pathlock.New(store, pathlock.WithObserver(history), pathlock.WithLogger(quiet))
	// The document's paths begin where the page is mounted.
	page, err := admin.New(locker, admin.Config{
		Prefix: "/", History: history, Log: quiet, Poll: 20 * time.Millisecond,
		Authorize: func(r *http.Request) error {
			if r.Header.Get("Authorization") != "" {
				return admin.ErrUnauthorized
			}
			return nil
		},
		AuthorizeRelease: func(*http.Request) (string, error) { return "ann", nil },
	})
	testerr.Must(t, err)
	send := func(method, path, body string, headers ...string) (*http.Request, *httptest.ResponseRecorder) {
		request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i+1 < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		page.ServeHTTP(w, request)
		return request, w
	}
	_, served := send("GET", "/openapi.json", "")
	var described map[string]any
	testerr.Must(t, json.Unmarshal(served.Body.Bytes(), &described))
	delete(described, "servers") // paths are absolute here
	text, err := json.Marshal(described)
	testerr.Must(t, err)
	document, err := libopenapi.NewDocument(text)
	testerr.Must(t, err)
	check, problems := validator.NewValidator(document)
	if len(problems) > 0 {
		t.Fatal(errors.Join(problems...))
	}
	if ok, problems := check.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("%s: %s %v", p.Message, p.Reason, p.SchemaValidationErrors)
		}
	}

	tree, err := pathlock.NewTree("testplan", "7")
	testerr.Must(t, err)
	ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "import", Route: "POST /import", RequestID: "r-1", Trace: "00-af-b7-01"})
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Note: "import"}
	testerr.Must(t, testerr.Of(locker.Acquire(ctx, request)))
	request.Wait, request.Note = 100*time.Millisecond, "rename"
	if _, err := locker.Acquire(t.Context(), request); !errors.Is(err, pathlock.ErrConflict) {
		t.Fatal(err)
	}
	waiting, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = locker.Acquire(waiting, pathlock.Request{Tree: tree, Gate: true, Wait: time.Minute, Note: "the whole plan"})
	}()
	defer func() { stop(); <-over }()
	var seen string
	for !strings.Contains(seen, "the whole plan") {
		_, answer := send("GET", "/api/tree?namespace=testplan&id=7", "")
		seen = answer.Body.String()
	}
	key := strings.Split(seen, `"key":"`)[1]
	release := fmt.Sprintf(`{"namespace":"testplan","id":"7","key":%q,"reason":"stuck"}`, key[:strings.IndexByte(key, '"')])
	answered := map[string]bool{}
	for _, ask := range []struct {
		method, path, body string
		status             int
		headers            []string
	}{
		{"GET", "/api/trees", "", 200, nil},
		{"GET", "/api/tree?namespace=testplan&id=7", "", 200, nil},
		{"GET", "/api/history", "", 200, nil},
		{"GET", "/api/tree?namespace=testplan&id=", "", 400, nil},
		{"GET", "/api/trees", "", 401, []string{"Authorization", "nobody"}},
		{"GET", "/api/trees", "", 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"POST", "/api/release", `{}`, 400, nil},
		{"POST", "/api/release", release, 415, []string{"Content-Type", "text/plain"}},
		{"POST", "/api/release", release, 200, nil},
		{"POST", "/api/release", release, 409, nil},
	} {
		request, answer := send(ask.method, ask.path, ask.body, ask.headers...)
		response, got := answer.Result(), answer.Body.String()
		if response.StatusCode != ask.status {
			t.Errorf("%s %s: %d %s, want %d", ask.method, ask.path, response.StatusCode, got, ask.status)
		}
		if ok, problems := check.ValidateHttpResponse(request, response); !ok {
			for _, p := range problems {
				t.Errorf("%s %s: %s: %s %v\n%s", ask.method, ask.path, p.Message, p.Reason, p.SchemaValidationErrors, got)
			}
		}
		path, _, _ := strings.Cut(ask.path, "?")
		answered[path] = true
	}
	for path := range described["paths"].(map[string]any) {
		if !answered[path] {
			t.Errorf("%s is described and was not asked", path)
		}
	}
}
