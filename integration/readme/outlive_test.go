package readme

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// plan is the tree of the tests' suites.
func plan(t *testing.T) (pathlock.Tree, pathlock.Resolver) {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		t.Fatal(err)
	}
	return tree, pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
		p, err := pathlock.ParsePath("/" + id)
		return pathlock.Location{Tree: tree, Path: p}, err
	})
}

// TestAHandlerLendsALock: the LOCK handler of docs/beyond-requests.md keeps everybody out but the
// holder of the token.
func TestAHandlerLendsALock(t *testing.T) {
	gin.SetMode(gin.TestMode)
	_, resolver := plan(t)
	locks := middleware.New(pathlock.New(memstore.New(), pathlock.WithWait(pathlock.NoWait)), resolver, middleware.Config{})
	r := gin.New()
	r.Handle("LOCK", "/suites/:id", locks.Lock(lockspec.None("its handler locks")), lend(locks))
	r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) { c.Status(http.StatusNoContent) })
	send := func(method, token string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), method, "/suites/a", nil)
		if token != "" {
			req.Header.Set(middleware.TokenHeader, token)
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		return w
	}

	locked := send("LOCK", "")
	var answer struct{ Token string }
	if err := json.Unmarshal(locked.Body.Bytes(), &answer); err != nil || locked.Code != http.StatusCreated {
		t.Fatalf("LOCK: %d %s, %v", locked.Code, locked.Body, err)
	}
	if w := send("LOCK", ""); w.Code != http.StatusLocked {
		t.Errorf("a second LOCK: %d %s, want 423", w.Code, w.Body)
	}
	if w := send(http.MethodDelete, ""); w.Code != http.StatusLocked {
		t.Errorf("without the token: %d %s, want 423", w.Code, w.Body)
	}
	if w := send(http.MethodDelete, answer.Token); w.Code != http.StatusNoContent {
		t.Errorf("with the token: %d %s, want 204", w.Code, w.Body)
	}
}
