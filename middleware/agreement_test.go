package middleware_test

import (
	"fmt"
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
		for _, method := range []string{"GET", "HEAD", "POST", "PATCH", "DELETE"} {
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
