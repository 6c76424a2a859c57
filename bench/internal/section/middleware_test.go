package section

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	goleak.VerifyTestMain(m)
}

// A refused request is cheap, so the benchmark must reach the handler.
func TestEveryEngineAnswers(t *testing.T) {
	engines, err := newEngines()
	if err != nil {
		t.Fatal(err)
	}
	for row, engine := range engines {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, "/suites/17", strings.NewReader(renameBody))
		request.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, request)
		if w.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", row, w.Code, w.Body)
		}
	}
	if len(engines) != 3 {
		t.Errorf("%d engines, want 3", len(engines))
	}
}

func BenchmarkMiddleware(b *testing.B) {
	engines, err := newEngines()
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct{ name, row string }{
		{"none", emptyHandler},
		{"delete", deleteHandler},
		{"rename", renameHandler},
	} {
		b.Run(bb.name, func(b *testing.B) { serveRequests(b, engines[bb.row]) })
	}
}
