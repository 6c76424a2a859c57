package integration

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Every documented error of the plugin has its answer, as has what GORM and the driver say of
// themselves: with the middleware and the plugin's resolver, and nothing else set up.
func TestErrors_ofThePluginAreAnswered(t *testing.T) {
	type suite = gormplugintest.Suite
	damaged := func(column, value string, work func(*gorm.DB) error) func(*gorm.DB, *sql.DB) error {
		return func(db *gorm.DB, _ *sql.DB) error {
			err := gormplugin.AllowRawWrites(db).Exec("UPDATE suites SET "+column+" = ? WHERE id = 3", value).Error
			return cmp.Or(err, work(db))
		}
	}
	// sent is what a client sends, as a decoder gives it.
	sent := func(body string) (values map[string]any) {
		testerr.Must(t, json.Unmarshal([]byte(body), &values))
		return values
	}
	change := func(body string) func(*gorm.DB, *sql.DB) error {
		return func(db *gorm.DB, _ *sql.DB) error { return db.Model(&suite{ID: 2}).Updates(sent(body)).Error }
	}
	create := func(body string) func(*gorm.DB, *sql.DB) error {
		return func(db *gorm.DB, _ *sql.DB) error { return db.Model(&suite{}).Create(sent(body)).Error }
	}
	for _, tt := range []struct {
		what   string
		work   func(db *gorm.DB, pool *sql.DB) error
		status int
		kind   string
	}{
		{"a name that a sibling has", change(`{"name":"b"}`), 409, "name-taken"},
		{"a name that is too long", change(`{"name":"` + strings.Repeat("x", 1000) + `"}`), 400, "invalid-request"},
		{"a fraction for the parent", change(`{"parent_id":1.5}`), 400, "invalid-request"},
		{"a list for the parent", change(`{"parent_id":[1]}`), 400, "invalid-request"},
		{"a word for the parent", create(`{"parent_id":"one","name":"x"}`), 400, "invalid-request"},
		{"an object for the name", create(`{"parent_id":1,"name":{"x":1}}`), 400, "invalid-request"},
		{"an expression for the parent, which is the program's fault", func(db *gorm.DB, _ *sql.DB) error {
			return db.Model(&suite{ID: 2}).Updates(map[string]any{"parent_id": gorm.Expr("1")}).Error
		}, 500, "internal"},
		{"a parent that is not there", create(`{"parent_id":99,"name":"x"}`), 404, "not-found"},
		{"a second row at the top", create(`{"plan_id":1,"name":"x"}`), 400, "invalid-request"},
		{"a root row that is renamed", func(db *gorm.DB, _ *sql.DB) error {
			return gormplugin.Rename(db, &suite{}, 1, "x")
		}, 400, "invalid-request"},
		{"a leaf without a parent", func(db *gorm.DB, _ *sql.DB) error {
			return db.Create(&gormplugintest.Case{Name: "x"}).Error
		}, 400, "invalid-request"},
		{"a damaged path, renamed", damaged("path", "b/", func(db *gorm.DB) error {
			return gormplugin.Rename(db, &suite{}, 3, "x")
		}), 500, "internal"},
		{"a move below itself", change(`{"parent_id":2}`), 409, "would-cycle"},
		{"a row that is not there", func(db *gorm.DB, _ *sql.DB) error {
			return db.Take(&suite{}, "id = ?", 99).Error
		}, 404, "not-found"},
		{"a Save of a row that was deleted since it was read", func(db *gorm.DB, _ *sql.DB) error {
			var read suite
			testerr.Must(t, errors.Join(db.Take(&read, 3).Error, db.Delete(&suite{ID: 3}).Error))
			read.Note = "edited"
			return db.Save(&read).Error
		}, 409, "stale"},
		{"a row that others refer to", func(db *gorm.DB, _ *sql.DB) error {
			testerr.Must(t, errors.Join(db.Exec("CREATE TABLE others (suite_id INTEGER REFERENCES suites(id))").Error, db.Exec("INSERT INTO others VALUES (2)").Error))
			return db.Unscoped().Delete(&suite{ID: 2}).Error
		}, 409, "reference"},
		{"a key that is taken", create(`{"id":2,"parent_id":1,"name":"x"}`), 409, "duplicate"},
		{"a database that was closed", func(db *gorm.DB, pool *sql.DB) error {
			return errors.Join(pool.Close(), db.Take(&suite{}, "id = ?", 2).Error)
		}, 503, "database-unavailable"},
		{"GORM's ErrForeignKeyViolated", func(*gorm.DB, *sql.DB) error { return gorm.ErrForeignKeyViolated }, 409, "reference"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			pool := sql.OpenDB(databases.SQLiteConnector(t, "&_txlock=immediate&_pragma=foreign_keys(1)"))
			db := databases.Use(t, gormlite.OpenDB(pool))
			locker := pathlock.New(memstore.New())
			plugin := gormplugin.New(locker, gormplugin.Model(&suite{}), gormplugin.Leaf(&gormplugintest.Case{}, &suite{}))
			testerr.Must(t, errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)))
			root := &suite{ID: 1, PlanID: 1}
			testerr.Must(t, errors.Join(db.Create(root).Error,
				db.Create(&suite{ID: 2, ParentID: &root.ID, Name: "a"}).Error, db.Create(&suite{ID: 3, ParentID: &root.ID, Name: "b"}).Error,
				db.Create(&suite{ID: 4, PlanID: 2}).Error, db.Create(&gormplugintest.Case{ID: 1, SuiteID: 3, Name: "t"}).Error))
			var logged bytes.Buffer
			locks := middleware.New(locker, plugin.Resolver(&suite{}), middleware.Config{Log: slog.New(slog.NewTextHandler(&logged, nil))})
			engine := gin.New()
			engine.POST("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
				if err := tt.work(db.WithContext(c.Request.Context()), pool); err != nil {
					locks.Fail(c, err)
				}
			})
			w := httptest.NewRecorder()
			engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/suites/2", nil))
			if w.Code != tt.status || !strings.Contains(w.Body.String(), middleware.ProblemType+tt.kind+`"`) {
				t.Errorf("answered %d: %s, want %d %s", w.Code, w.Body, tt.status, tt.kind)
			}
			if is := strings.Contains(logged.String(), "level=ERROR"); is != (tt.status == http.StatusInternalServerError) {
				t.Errorf("the log of an answer %d: %s", w.Code, logged.String())
			}
			for _, internal := range []string{"gormplugin", "sqlite", "UNIQUE", "sql:"} {
				if strings.Contains(w.Body.String(), internal) {
					t.Errorf("the answer speaks of %q: %s", internal, w.Body)
				}
			}
			testerr.None(t, locker.Shutdown(t.Context()))
		})
	}
}
