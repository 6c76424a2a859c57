package middleware_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
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
		{"JSON with a charset", "PATCH", "json", `application/json; charset="UTF-8"`, `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON that does not say so", "PATCH", "json", none, `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"an empty content type", "PATCH", "json", "", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON of a type that the program names", "PATCH", "json", "application/merge-patch+json; charset=utf-8", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON of a type that it does not name", "PATCH", "json", "application/json-patch+json", `{"name":"n"}`, "", 415, `unsupported content type: the body is said to be "application/json-patch+json", and should be application/json or application/merge-patch+json`},
		{"JSON in another charset", "PATCH", "json", "application/json; charset=latin1", `{"name":"n"}`, "", 415, "in UTF-8"},
		{"JSON in other letters", "PATCH", "json", "Application/JSON; Charset=UTF-8", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON that a space ends", "PATCH", "json", "application/json x", `{"name":"n"}`, "", 415, "should be application/json"},
		{"JSON in other letters, with a parameter that cannot be written", "PATCH", "json", "Application/JSON; *0=x", `{"name":"n"}`, "", 415, "should be application/json"},
		{"JSON that a tab ends", "PATCH", "json", "application/json\t; charset=utf-8", `{"name":"n"}`, "", 204, "X /dir1/n"},
		{"JSON twice", "PATCH", "json", "application/json\napplication/json", `{"name":"n"}`, "", 415, "application/json, application/json"},
		{"JSON and something else", "PATCH", "json", "application/json\ntext/plain", `{"name":"n"}`, "", 415, "application/json, text/plain"},
		{"a form for JSON", "PATCH", "json", urlencoded, `{"name":"n"}`, "", 415, "should be application/json"},
		{"a form without a body for JSON", "PATCH", "json", urlencoded, ``, "", 415, "should be application/json"},
		{"text for JSON", "PATCH", "json", "text/plain", `{"name":"n"}`, "", 415, "should be application/json"},
		{"a long type", "PATCH", "json", strings.Repeat("x", 5000), `{"name":"n"}`, "", 415, "should be application/json"},
		{"no body", "PATCH", "json", none, "", "", 204, "X /dir1/dir2"},
		{"no body of JSON", "PATCH", "json", "application/json", "", "", 204, "X /dir1/dir2"},
		{"a blank body", "PATCH", "json", none, " ", "", 400, "the body is empty"},
		{"JSON of a GET", "GET", "json", "application/json", `{"name":"n"}`, "", 400, "the values of a GET cannot be in its body"},
		{"JSON of a DELETE", "DELETE", "json", "application/json", `{"name":"n"}`, "", 204, "X /dir1/n"},

		{"a form", "POST", "form", urlencoded, "name=n", "", 204, "X /dir1/n"},
		{"a form with a charset", "POST", "form", urlencoded + "; charset=utf-8", "name=n", "", 204, "X /dir1/n"},
		{"a form in another charset", "POST", "form", urlencoded + "; charset=iso-8859-1", "name=n", "", 415, "in UTF-8"},
		{"a multipart form", "POST", "form", "multipart/form-data; boundary=b", multipartBody("name", "n"), "", 204, "X /dir1/n"},
		{"a form in other letters", "POST", "form", "Multipart/Form-Data; boundary=B", strings.ReplaceAll(multipartBody("name", "n"), "--b", "--B"), "", 204, "X /dir1/n"},
		{"the first of two fields", "POST", "form", urlencoded, "name=n&name=m", "", 204, "X /dir1/n"},
		{"another field in the query", "POST", "form", urlencoded, "name=n", "?id=4", 204, "X /dir1/n"},
		{"the field in the query, too", "POST", "form", urlencoded, "name=n", "?name=n", 400, "name: is in the query"},
		{"the field in the query alone", "POST", "form", urlencoded, "", "?name=", 400, "name: is in the query"},
		{"the field in the query, too, of a multipart form", "POST", "form", "multipart/form-data; boundary=b", multipartBody("name", "n"), "?name=m", 400, "name: is in the query"},
		{"a file", "POST", "form", "multipart/form-data; boundary=b", multipartBody(`name"; filename="f`, "n"), "", 400, "name: is a file"},
		{"a file and a field", "POST", "form", "multipart/form-data; boundary=b", multipartBody("name", "n", `name"; filename="f`, "m"), "", 400, "name: is a file"},
		{"no body of a form", "POST", "form", none, "", "", 204, "X /dir1/dir2"},
		{"no body, and the field in the query", "POST", "form", none, "", "?name=n", 400, "name: is in the query"},
		{"a form that does not say so", "POST", "form", none, "name=n", "", 415, "the body has none, and should be " + urlencoded + " or multipart/form-data"},
		{"JSON for a form", "POST", "form", "application/json", `{"name":"n"}`, "", 415, "should be " + urlencoded},
		{"another kind of parts", "POST", "form", "multipart/mixed; boundary=b", multipartBody("name", "n"), "", 415, "should be " + urlencoded},
		{"a form of a GET", "GET", "form", urlencoded, "name=n", "", 400, "the values of a GET cannot be in its body"},
		{"parts without a boundary", "POST", "form", "multipart/form-data", multipartBody("name", "n"), "", 400, "has no boundary"},
		{"parts that are cut off", "POST", "form", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nn", "", 400, "the form is malformed"},
		{"an escape that is none", "POST", "form", urlencoded, "name=%zz", "", 400, "the form is malformed"},
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

// What middleware before has read of the body is what the spec reads, and what the handler can
// read.
func TestABodyThatWasReadBefore(t *testing.T) {
	bindKept := func(c *gin.Context) {
		var body struct{ Name string }
		if err := c.ShouldBindBodyWithJSON(&body); err != nil {
			t.Error(err)
		}
	}
	for _, tt := range []struct {
		what, types, body string
		before            gin.HandlerFunc
		name              lockspec.Source
		maxBody           int64
		readers           map[string]func(*gin.Context) string
		want              string
	}{
		{"kept by gin", "application/json", `{"name":"n"}`, bindKept, lockspec.JSON("name"), 0, jsonReaders, "200 n X /dir1/dir2, X /dir1/n"},
		{"kept by gin, and too long", "application/json", `{"name":"n"}`, bindKept, lockspec.JSON("name"), 5, jsonReaders, "413"},
		{"a form", "application/x-www-form-urlencoded", `name=n`, func(c *gin.Context) { c.PostForm("x") }, lockspec.Form("name"), 0, formReaders, "200 n X /dir1/dir2, X /dir1/n"},
		{"a multipart form", "multipart/form-data; boundary=b", multipartBody("name", "n"), func(c *gin.Context) { c.PostForm("x") }, lockspec.Form("name"), 0,
			map[string]func(*gin.Context) string{"ShouldBind": formReaders["ShouldBind"], "PostForm": formReaders["PostForm"]}, "200 n X /dir1/dir2, X /dir1/n"},
	} {
		for way, read := range tt.readers {
			if way == "form-multipart" {
				continue // It does not read the other kind.
			}
			t.Run(tt.what+" by "+way, func(t *testing.T) {
				f := newFixture(t, memstore.New(), middleware.Config{})
				locks := middleware.New(f.locker, f.nodes, middleware.Config{MaxBody: tt.maxBody})
				f.engine.PATCH("/read/:id", tt.before, locks.Lock(lockspec.Rename(lockspec.Param("id"), tt.name)), func(c *gin.Context) {
					c.String(http.StatusOK, "%s %s", read(c), strings.Join(f.held(), ", "))
				})
				w := f.send("PATCH", "/read/3", tt.body, "Content-Type", tt.types)
				if got := fmt.Sprintf("%d %s", w.Code, w.Body); !strings.HasPrefix(got, tt.want) {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		}
	}
}

// rootOf resolves every id to the root of a tree.
func rootOf(tree pathlock.Tree) pathlock.Resolver {
	return pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) {
		return pathlock.Location{Tree: tree}, nil
	})
}

func TestNullIsTheTopWhereTheSpecSaysSo(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	locks := middleware.New(f.locker, f.nodes, middleware.Config{Resolvers: map[string]pathlock.Resolver{"plan": rootOf(plan)}})
	parent, name := lockspec.JSON("parent_id"), lockspec.JSON("name").Map(strings.TrimSpace)
	handler := func(c *gin.Context) { c.String(http.StatusOK, strings.Join(f.held(), ", ")) }
	f.engine.POST("/plans/:plan/suites", locks.Lock(lockspec.Insert(parent.OrTop(lockspec.Param("plan").Kind("plan")), name)), handler)
	f.engine.PATCH("/any/:id", locks.Lock(lockspec.Move(lockspec.Param("id"), parent.OrTop().Optional(), name.Optional())), handler)
	for _, tt := range []struct{ method, target, body, want string }{
		{"POST", "/plans/1/suites", `{"name":" n "}`, "X /n"},
		{"POST", "/plans/1/suites", `{"parent_id":null,"name":"n"}`, "X /n"},
		{"POST", "/plans/1/suites", `{"parent_id":2,"name":"n"}`, "X /dir1/n"},
		{"PATCH", "/any/3", `{"parent_id":null}`, "X /dir1/dir2, X /dir2"},
		{"PATCH", "/any/3", `{"parent_id":4}`, "X /dir1/dir2, X /other/dir2"},
		{"PATCH", "/any/3", `{"name":"n"}`, "X /dir1/dir2, X /dir1/n"},
		{"PATCH", "/any/3", `{"parent_id":null,"name":"n"}`, "X /dir1/dir2, X /n"},
		{"PATCH", "/any/3", ``, "X /dir1/dir2"},
	} {
		if w := f.send(tt.method, tt.target, tt.body); w.Body.String() != tt.want {
			t.Errorf("%s %s %s: got %d %s, want %s", tt.method, tt.target, tt.body, w.Code, w.Body, tt.want)
		}
	}
	f.nothingLeft()
}
