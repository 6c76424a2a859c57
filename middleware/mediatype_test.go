package middleware_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestBodiesAreReadAsWhatTheySayTheyAre(t *testing.T) {
	const urlencoded = "application/x-www-form-urlencoded"
	tests := []struct {
		what, method, source, types, body, query string
		status                                   int
		// says is what is locked, or a part of the answer's detail.
		says string
	}{
		{"JSON", "PATCH", "json", "application/json", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON of a type that the program names", "PATCH", "json", "application/merge-patch+json; charset=utf-8", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON of a type that it does not name", "PATCH", "json", "application/json-patch+json", `{"name":"n"}`, "", 415, `unsupported content type: the body is said to be "application/json-patch+json", and should be application/json or application/merge-patch+json`},
		{"JSON in another charset", "PATCH", "json", "application/json; charset=latin1", `{"name":"n"}`, "", 415, "in UTF-8"},
		{"JSON twice", "PATCH", "json", "application/json\napplication/json", `{"name":"n"}`, "", 415, "application/json, application/json"},
		{"JSON in other letters", "PATCH", "json", "Application/JSON; Charset=UTF-8", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"a form for JSON", "PATCH", "json", urlencoded, `{"name":"n"}`, "", 415, "should be application/json"},
		{"a long type", "PATCH", "json", strings.Repeat("x", 5000), `{"name":"n"}`, "", 415, "should be application/json"},
		{"no body", "PATCH", "json", none, "", "", 204, "X /dir1/dir2"},
		{"a blank body", "PATCH", "json", none, " ", "", 400, "the body is empty"},
		{"JSON of a GET", "GET", "json", "application/json", `{"name":"n"}`, "", 400, "the values of a GET cannot be in its body"},

		{"a form", "POST", "form", urlencoded, "name=n", "", 204, "X /dir1/n"},
		{"a form in another charset", "POST", "form", urlencoded + "; charset=iso-8859-1", "name=n", "", 415, "in UTF-8"},
		{"a multipart form", "POST", "form", "multipart/form-data; boundary=b", multipartBody("name", "n"), "", 204, "X /dir1/n"},
		{"the field in the query, too", "POST", "form", urlencoded, "name=n", "?name=n", 400, "name: is in the query"},
		{"the field in the query alone", "POST", "form", urlencoded, "", "?name=", 400, "name: is in the query"},
		{"a file", "POST", "form", "multipart/form-data; boundary=b", multipartBody(`name"; filename="f`, "n"), "", 400, "name: is a file"},
		{"a form that does not say so", "POST", "form", none, "name=n", "", 415, "the body has none, and should be " + urlencoded + " or multipart/form-data"},
		{"JSON for a form", "POST", "form", "application/json", `{"name":"n"}`, "", 415, "should be " + urlencoded},
		{"parts without a boundary", "POST", "form", "multipart/form-data", multipartBody("name", "n"), "", 400, "has no boundary"},
		{"parts that are cut off", "POST", "form", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nn", "", 400, "the form is malformed"},
		{"a semicolon", "POST", "form", urlencoded, "a=b;name=n", "", 400, "the form is malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			name := lockspec.JSON("name").Optional()
			if tt.source == "form" {
				name = lockspec.Form("name").Optional()
			}
			f := newFixture(t, memstore.New(), middleware.Config{})
			locks := middleware.New(f.locker, f.nodes, middleware.Config{JSONTypes: []string{"application/merge-patch+json"}})
			var held []string
			f.engine.Handle(tt.method, "/read/:id", locks.Lock(lockspec.Rename(lockspec.Param("id"), name)), func(c *gin.Context) {
				held = f.held()
				if body, err := io.ReadAll(c.Request.Body); err != nil || string(body) != tt.body {
					t.Errorf("the handler reads the body %q, %v", body, err)
				}
				c.Status(http.StatusNoContent)
			})
			r := httptest.NewRequestWithContext(t.Context(), tt.method, "/read/3"+tt.query, strings.NewReader(tt.body))
			if tt.types != none {
				r.Header["Content-Type"] = strings.Split(tt.types, "\n")
			}
			w := httptest.NewRecorder()
			f.engine.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Fatalf("answer %d: %s", w.Code, w.Body)
			}
			if w.Code == http.StatusNoContent {
				if !slices.Contains(held, tt.says) {
					t.Errorf("held %v, want %s", held, tt.says)
				}
				return
			}
			p := f.problem(w)
			detail, _ := p["detail"].(string)
			if !strings.Contains(detail, tt.says) || len(detail) > 300 {
				t.Errorf("the detail is %q, want %q", detail, tt.says)
			}
			speaksOfNoInternals(t, detail)
			if kind, _ := p["type"].(string); w.Code == http.StatusUnsupportedMediaType && !strings.HasSuffix(kind, "unsupported-media-type") {
				t.Errorf("type %q", kind)
			}
			f.nothingLeft()
		})
	}
}

// speaksOfNoInternals checks that the words of a detail are for those who know the interface.
func speaksOfNoInternals(t *testing.T, detail string) {
	t.Helper()
	for _, internal := range []string{"http:", "mime:", "multipart:", "url:", "net/", "strconv", "EOF", "invalid character", "Go value", "json:", "lockspec", "middleware", "pathlock"} {
		if strings.Contains(detail, internal) {
			t.Errorf("%q speaks of what is behind the interface: %q", detail, internal)
		}
	}
}
