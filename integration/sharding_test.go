package integration

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// sharding goes by the name of gorm.io/sharding, and puts its own connections around those of each
// statement, as that does. It has no shards.
type sharding struct{}

func (sharding) Name() string { return "gorm:sharding" }

func (sharding) Initialize(db *gorm.DB) error {
	around := func(db *gorm.DB) { db.Statement.ConnPool = &shardingPool{db.Statement.ConnPool} }
	return errors.Join(
		db.Callback().Create().Before("*").Register("gorm:sharding", around), db.Callback().Query().Before("*").Register("gorm:sharding", around),
		db.Callback().Update().Before("*").Register("gorm:sharding", around), db.Callback().Delete().Before("*").Register("gorm:sharding", around),
		db.Callback().Row().Before("*").Register("gorm:sharding", around), db.Callback().Raw().Before("*").Register("gorm:sharding", around),
	)
}

// shardingPool passes for a transaction whatever it is around.
type shardingPool struct{ gorm.ConnPool }

func (*shardingPool) Commit() error   { return nil }
func (*shardingPool) Rollback() error { return nil }

// gorm.io/sharding sends a statement to another table than the one that was asserted. So it is
// refused, with the reason, where it is registered before the plugin; behind the plugin, where
// anything is asked of the plugin.
func TestShardingIsRefused(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		db := databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")))
		plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Branch{}))
		errs := make(map[string]error)
		if before {
			testerr.Must(t, db.Use(sharding{}))
			errs["Use"] = db.Use(plugin)
		} else {
			testerr.Must(t, errors.Join(db.Use(plugin), db.Use(sharding{})))
			errs["AutoMigrate"] = gormplugin.AutoMigrate(db)
			errs["Create"] = db.Create(&gormplugintest.Branch{TreeID: 1}).Error
			errs["Rename"] = gormplugin.Rename(db, &gormplugintest.Branch{}, 1, "b")
		}
		for what, err := range errs {
			if !errors.Is(err, gormplugin.ErrUnsupported) || !strings.Contains(err.Error(), "gorm.io/sharding") {
				t.Errorf("%s, registered before the plugin: %t: got the error %v", what, before, err)
			}
		}
	}
}

// Databases of hosts or shards share a locker. Each has a plugin, whose namespace names the
// database, and a middleware. A request waits for nobody who is in the same tree of another
// database.
func TestNamespace_tellsDatabasesApart(t *testing.T) {
	locker := pathlock.New(memstore.New(), pathlock.WithWait(pathlock.NoWait))
	of, locked := make(map[string]*folders), make(map[string]gin.HandlerFunc)
	for _, host := range []string{"a", "b"} {
		f := &folders{locker: locker}
		f.open(t, host+"/drive")
		testerr.Must(t, f.Create(&Folder{DriveID: "7", Name: "old"}).Error)
		locks := middleware.New(locker, f.plugin.Resolver(&Folder{}), middleware.Config{})
		of[host], locked[host] = f, locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.Query("name")))
	}
	engine := gin.New()
	engine.POST("/:id", func(c *gin.Context) { locked[c.Request.Host](c) }, func(c *gin.Context) {
		testerr.Must(t, gormplugin.Rename(of[c.Request.Host].WithContext(c), &Folder{}, c.Param("id"), c.Query("name")))
	})
	at, err := gormplugin.Resolve(of["a"].DB, &Folder{}, 1)
	testerr.Must(t, err)
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: at.Tree, Gate: true})
	testerr.Must(t, err)
	for host, want := range map[string]string{"a": "423 /old", "b": "200 /new"} {
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+host+"/1?name=new", nil))
		var f Folder
		testerr.Must(t, of[host].First(&f).Error)
		if got := fmt.Sprint(w.Code, " ", f.Path); got != want {
			t.Errorf("%s: got %s, want %s: %s", host, got, want, w.Body)
		}
	}
	testerr.Must(t, lock.Release(t.Context()))
}
