package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Whoever is signed in may look, and operators may release.
func Example() {
	gin.SetMode(gin.ReleaseMode)
	store := memstore.New()
	history := contention.New(store, contention.Config{})
	defer history.Close()
	locker := pathlock.New(store, pathlock.WithObserver(history))

	user := func(r *http.Request) string { name, _, _ := r.BasicAuth(); return name }
	page, err := admin.New(locker, admin.Config{
		Authorize: func(r *http.Request) error {
			if user(r) == "" {
				return admin.ErrUnauthorized
			}
			return nil
		},
		AuthorizeRelease: func(r *http.Request) (string, error) {
			if user(r) != "ann" {
				return "", errors.New("no operator")
			}
			return "ann", nil
		},
		History: history,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := gin.New()
	r.Any("/admin/locks/*any", gin.WrapH(page))

	for _, name := range []string{"", "bob", "ann"} {
		request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/admin/locks/", nil)
		if name != "" {
			request.SetBasicAuth(name, "secret")
		}
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, request)
		fmt.Printf("%q %d %v\n", name, answer.Code, strings.Contains(answer.Body.String(), `data-release="true"`))
	}
	// Output:
	// "" 401 false
	// "bob" 200 false
	// "ann" 200 true
}

// A page that says nobody may look is refused, instead of being open to all.
func ExampleNew() {
	locker := pathlock.New(memstore.New())
	_, err := admin.New(locker, admin.Config{})
	fmt.Println(err)
	// Output: admin: unusable configuration: no Authorize: say who may look at the locks
}

// The page is an [http.Handler], so that it does without any framework.
func ExamplePage_ServeHTTP() {
	page, err := admin.New(pathlock.New(memstore.New()), admin.Config{
		Prefix:    "/locks",
		Authorize: func(*http.Request) error { return nil },
		Redact: func(kind admin.Kind, text string) string {
			if kind == admin.KindNote {
				return "(a note)"
			}
			return text
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/locks/", page)

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/locks/", nil))
	fmt.Println(answer.Code, answer.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
