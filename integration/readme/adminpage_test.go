package readme

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/store/memstore"
)

// headers are sessions whose user says who it is.
type headers struct{}

func (headers) User(r *http.Request) string { return r.Header.Get("X-User") }

func (headers) IsOperator(user string) bool { return user == "ann" }

func TestTheAdminPageOfTheDocsIsGuarded(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	locker, history := recordedLocker(memstore.New())
	defer history.Close()
	r := gin.New()
	_, err := mountAdmin(r, locker, history, headers{})
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]struct {
		status int
		says   string
	}{
		"": {401, "unauthenticated"}, "bob": {200, `<html lang="en" data-poll="1000" data-history="true">`}, "ann": {200, `data-release="true"`},
	} {
		request := httptest.NewRequestWithContext(t.Context(), "GET", "/admin/locks/", nil)
		request.Header.Set("X-User", user)
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, request)
		if answer.Code != want.status || !strings.Contains(answer.Body.String(), want.says) {
			t.Errorf("%q: %d %s, want %d and %s", user, answer.Code, answer.Body, want.status, want.says)
		}
	}
}
