package middleware_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestABodyOverTheLimitIsRefusedWithoutALengthToo(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 10})
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/suites/3", io.MultiReader(strings.NewReader(`{"name":"`), strings.NewReader(`longer than that"}`)))
	r.ContentLength = -1
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

// unreadable fails the test when it is read.
type unreadable struct{ *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.Error("the body was read")
	return 0, io.EOF
}

func TestABodyThatSaysItIsTooLongIsNotRead(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 1000})
	r := httptest.NewRequestWithContext(t.Context(), "PATCH", "/suites/3", unreadable{t})
	r.ContentLength = 1001
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

func TestABodyThatNoValueIsNeededOfIsLeftToTheHandler(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{MaxBody: 10})
	long := strings.Repeat("x", 1000)
	f.handler = func(c *gin.Context) {
		if body, err := io.ReadAll(c.Request.Body); err != nil || string(body) != long {
			t.Errorf("the handler reads %d bytes, %v", len(body), err)
		}
		c.Status(http.StatusNoContent)
	}
	if w := f.send("DELETE", "/suites/3", long); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
}

// A field is the same at the second look at the nodes as at the first, an error too.
func TestAFieldIsTheSameAtTheSecondLook(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	resolved := 0
	f.nodes.after = func(string) {
		if resolved++; resolved == 1 {
			f.nodes.move("3", "/other/dir2")
		}
	}
	f.handler = func(c *gin.Context) {
		if got, want := f.held(), []string{"X /other/dir2", "X /other/new"}; !slices.Equal(got, want) {
			t.Errorf("held %v, want %v", got, want)
		}
		c.Status(http.StatusNoContent)
	}
	if w := f.send("PATCH", "/suites/3", `{"name":"new"}`); w.Code != http.StatusNoContent {
		t.Errorf("answer %d: %s", w.Code, w.Body)
	}
	f.nothingLeft()
}
