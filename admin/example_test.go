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

// Signed-in users may look, and operators may release.
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
