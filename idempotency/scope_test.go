package idempotency_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Callers whom nobody has authenticated share no scope: a request of theirs with a key does
// nothing, and the log says what to mend. Those without a key run.
func TestARequestOfNobodyIsRefused(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db, err := gorm.Open(mysql.Open(scratch(t, server.DSN)), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Suite{}))); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		keys, err := idempotency.New(db, idempotency.Config{
			Scope: func(c *gin.Context) string { return c.GetHeader("X-User") },
			Log:   slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := keys.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		ran := 0
		engine := gin.New()
		engine.POST("/orders", keys.Handle, func(c *gin.Context) { ran++; c.String(http.StatusCreated, "made") })
		send := func(headers ...string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders", nil), httptest.NewRecorder()
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			engine.ServeHTTP(w, r)
			return w
		}
		for range 2 {
			if w := send(idempotency.Header, "1"); w.Code != http.StatusInternalServerError || w.Header().Get("Idempotency-Replayed") != "" {
				t.Errorf("with a key: %d %s", w.Code, w.Body)
			}
		}
		if ran != 0 || !strings.Contains(log.String(), "behind the authentication") {
			t.Errorf("the handler ran %d times; the log: %s", ran, &log)
		}
		if w := send(); w.Code != http.StatusCreated {
			t.Errorf("without a key: %d", w.Code)
		}
		if w := send(idempotency.Header, "1", "X-User", "anna"); w.Code != http.StatusCreated || ran != 2 {
			t.Errorf("with a user: %d, the handler ran %d times", w.Code, ran)
		}
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
}
