package middleware_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The ways in which a handler may read the new name.
var (
	jsonReaders = map[string]func(*gin.Context) string{
		"ShouldBind":             bound((*gin.Context).ShouldBind),
		"ShouldBindJSON":         bound((*gin.Context).ShouldBindJSON),
		"ShouldBindBodyWithJSON": bound((*gin.Context).ShouldBindBodyWithJSON),
	}
	formReaders = map[string]func(*gin.Context) string{
		"ShouldBind":     bound((*gin.Context).ShouldBind),
		"form":           boundWith(binding.Form),
		"form-post":      boundWith(binding.FormPost),
		"form-multipart": boundWith(binding.FormMultipart),
		"PostForm":       func(c *gin.Context) string { return c.PostForm("name") },
		"FormValue":      func(c *gin.Context) string { return c.Request.FormValue("name") },
		"PostFormValue":  func(c *gin.Context) string { return c.Request.PostFormValue("name") },
	}
)

func bound(bind func(*gin.Context, any) error) func(*gin.Context) string {
	return func(c *gin.Context) string {
		var body struct {
			Name string `json:"name" form:"name"`
		}
		if err := bind(c, &body); err != nil {
			return ""
		}
		return body.Name
	}
}

func boundWith(b binding.Binding) func(*gin.Context) string {
	return bound(func(c *gin.Context, into any) error { return c.ShouldBindWith(into, b) })
}

// Whatever the request looks like, and whichever of gin's ways the handler has: if it is called and
// reads a new name, that name is locked.
func TestBody_handlersReadTheNameThatIsLocked(t *testing.T) {
	id := lockspec.Param("id")
	types := []string{
		none, "", "application/json", "application/json;charset=latin1", "application/json ; x", "application/json, text/plain",
		"application/json text/plain", "Application/JSON; *0=x", "application/json\t", "application/merge-patch+json", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=latin1", "APPLICATION/x-www-form-urlencoded",
		"application/x-www-form-urlencoded;", "multipart/form-data; boundary=b", "Multipart/Form-Data; boundary=b", "multipart/form-data",
		"multipart/mixed; boundary=b", "multipart/form-data; boundary=b; boundary=c", "text/plain", "application/xml", "application/x-yaml", ";", " ", "x",
		"application/json\napplication/x-www-form-urlencoded", "application/x-www-form-urlencoded\napplication/json",
	}
	bodies := []string{
		"", `{"name":"json"}`, "name=form", "name=form&name=other", `{"a":"&name=form&","name":"json"}`, "<x><name>xml</name></x>", "name: yaml",
		multipartBody("name", "multipart"), multipartBody("name", "multipart", "name", "other"), multipartBody(`name"; filename="f`, "file"),
		multipartBody(`name"; filename="f`, "file", "name", "multipart"),
	}
	locked := 0
	for source, readers := range map[lockspec.From]map[string]func(*gin.Context) string{lockspec.FromJSON: jsonReaders, lockspec.FromForm: formReaders} {
		name := lockspec.JSON("name").Optional()
		if source == lockspec.FromForm {
			name = lockspec.Form("name").Optional()
		}
		f := newFixture(t, memstore.New(), middleware.Config{JSONTypes: []string{"application/merge-patch+json"}})
		var read func(*gin.Context) string
		request := ""
		handler := func(c *gin.Context) {
			got := read(c)
			if got == "" {
				return
			}
			locked++
			if held := strings.Join(f.held(), ", "); !strings.Contains(held+",", "X /dir1/"+got+",") {
				t.Errorf("%s: the handler reads the name %q, and locked is %s", request, got, held)
			}
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			f.engine.Handle(method, "/read/:id", f.locks.Lock(lockspec.Rename(id, name)), handler)
			for _, kind := range types {
				for _, body := range bodies {
					for _, query := range []string{"", "?name=query", "?other=x", "?name=a;b"} {
						for way, reader := range readers {
							if kind == "application/merge-patch+json" && way == "ShouldBind" {
								continue // JSONTypes says that handlers don't.
							}
							read = reader
							request = fmt.Sprintf("%s %s %s %q %q by %s", method, query, name, kind, body, way)
							r := httptest.NewRequestWithContext(t.Context(), method, "/read/3"+query, strings.NewReader(body))
							if kind != none {
								r.Header["Content-Type"] = strings.Split(kind, "\n")
							}
							if w := f.serveRequest(r); w.Code != http.StatusOK && w.Code != http.StatusBadRequest && w.Code != http.StatusUnsupportedMediaType {
								t.Errorf("%s: answer %d: %s", request, w.Code, w.Body)
							}
						}
					}
				}
			}
		}
	}
	if locked < 100 {
		t.Errorf("only %d handlers read a name", locked)
	}
}

// What a handler might read in another way than the middleware is refused, and the answer says how
// it should be.
func TestBody_isReadAsWhatItSaysItIs(t *testing.T) {
	const form, parts, json = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", `{"name":"n"}`
	for _, tt := range []struct {
		method, source, types, body, query string
		status                             int
		// says is what is locked, or a part of the answer's detail.
		says string
	}{
		{"PATCH", "json", "application/merge-patch+json; charset=utf-8", json, "", 204, "X /dir1/n"},
		{"PATCH", "json", "application/json-patch+json", json, "", 415, `is said to be "application/json-patch+json", and should be application/json or application/merge-patch+json`},
		{"PATCH", "json", "application/json; charset=latin1", json, "", 415, "in UTF-8"},
		{"PATCH", "json", "application/json\napplication/json", json, "", 415, "application/json, application/json"},
		{"PATCH", "json", "Application/JSON; Charset=UTF-8", json, "", 204, "X /dir1/n"},
		{"PATCH", "json", none, "", "", 204, "X /dir1/dir2"},
		{"PATCH", "json", none, " ", "", 400, "the body is empty"},
		{"GET", "json", "application/json", json, "", 400, "a GET cannot have its values in the body"},
		{"POST", "form", form, "name=n", "", 204, "X /dir1/n"},
		{"POST", "form", form + "; charset=iso-8859-1", "name=n", "", 415, "in UTF-8"},
		{"POST", "form", parts, multipartBody("name", "n"), "", 204, "X /dir1/n"},
		{"POST", "form", form, "name=n", "?name=n", 400, "name: is in the query"},
		{"POST", "form", parts, multipartBody(`name"; filename="f`, "n"), "", 204, "X /dir1/dir2"},
		{"POST", "form", none, "name=n", "", 415, `the body is said to be "", and should be ` + form + " or multipart/form-data"},
		{"POST", "form", "multipart/form-data", multipartBody("name", "n"), "", 400, "has no boundary"},
		{"POST", "form", form, "a=b;name=n", "", 400, "the form or the query is malformed"},
	} {
		name := lockspec.JSON("name").Optional()
		if tt.source == "form" {
			name = lockspec.Form("name").Optional()
		}
		f := newFixture(t, memstore.New(), middleware.Config{JSONTypes: []string{"application/merge-patch+json"}})
		f.engine.Handle(tt.method, "/read/:id", f.locks.Lock(lockspec.Rename(lockspec.Param("id"), name)), func(c *gin.Context) {
			if body, err := io.ReadAll(c.Request.Body); err != nil || string(body) != tt.body {
				t.Errorf("the handler reads the body %q, %v", body, err)
			}
			c.Header("Held", strings.Join(f.held(), ", "))
			c.Status(http.StatusNoContent)
		})
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/read/3"+tt.query, strings.NewReader(tt.body))
		if tt.types != none {
			r.Header["Content-Type"] = strings.Split(tt.types, "\n")
		}
		w := f.serveRequest(r)
		said := w.Header().Get("Held")
		if w.Code != http.StatusNoContent {
			said = f.problem(w).Detail
		}
		if w.Code != tt.status || !strings.Contains(said, tt.says) {
			t.Errorf("%s %s %s %q: answer %d, %s; want %d, %s", tt.method, tt.query, tt.types, tt.body, w.Code, said, tt.status, tt.says)
		}
	}
}

// none is the content type of a request without one.
const none = "none"

// multipartBody is a form of names and values whose boundary is b.
func multipartBody(fields ...string) string {
	var b strings.Builder
	for i := 0; i < len(fields); i += 2 {
		fmt.Fprintf(&b, "--b\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", fields[i], fields[i+1])
	}
	return b.String() + "--b--\r\n"
}
