package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Folder is a row of a tree that has no root row.
type Folder struct {
	ID       int64
	DriveID  string `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:255"`
	Path     string `pathlock:"path" gorm:"size:766"`
}

// grants keeps the operation of each grant that the store was asked for.
type grants struct {
	pathlock.NopObserver
	operations []string
}

// Granted implements [pathlock.Observer].
func (g *grants) Granted(_ context.Context, e pathlock.Event) {
	if !e.Reentrant {
		g.operations = append(g.operations, e.Origin.Operation)
	}
}

// folders is a database of folders, and what is granted there.
type folders struct {
	*gorm.DB
	grants
	locker *pathlock.Locker
	plugin *gormplugin.Plugin
}

func openFolders(t *testing.T) *folders {
	t.Helper()
	f := new(folders)
	f.locker = pathlock.New(memstore.New(), pathlock.WithObserver(&f.grants))
	f.open(t, "drive")
	return f
}

// open opens a new database, whose trees are in a namespace.
func (f *folders) open(t *testing.T, namespace string) {
	t.Helper()
	f.plugin = gormplugin.New(f.locker, gormplugin.Model(&Folder{}, gormplugin.Namespace(namespace)))
	f.DB = databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")), f.plugin)
	testerr.Must(t, gormplugin.AutoMigrate(f.DB))
}

type folderBody struct {
	ParentID *int64 `json:"parent_id"`
	Name     string `json:"name"`
}

// create makes a folder.
func (f *folders) create(c *gin.Context, tx *gorm.DB, body folderBody) error {
	return tx.Create(&Folder{DriveID: c.Param("drive"), ParentID: body.ParentID, Name: strings.TrimSpace(body.Name)}).Error
}

// move moves one. A parent_id that is null is the top of the drive.
func (f *folders) move(c *gin.Context, tx *gorm.DB, body folderBody) error {
	return tx.Model(&Folder{}).Where("id = ?", c.Param("id")).Update("parent_id", body.ParentID).Error
}

// handle runs a write in a transaction.
func (f *folders) handle(write func(*gin.Context, *gorm.DB, folderBody) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		var body folderBody
		err := c.ShouldBind(&body)
		if err == nil {
			err = gormplugin.Transaction(c.Request.Context(), f.DB, func(tx *gorm.DB) error { return write(c, tx, body) })
		}
		if err != nil {
			c.String(http.StatusConflict, "%v", err)
		}
	}
}

// What the spec locks at the top of a tree is all that the plugin needs there: it takes none
// itself.
func TestSpec_locksTheTopOfATree(t *testing.T) {
	f, engine := openFolders(t), gin.New()
	locks := middleware.New(f.locker, f.plugin.Resolver(&Folder{}), middleware.Config{Resolvers: map[string]pathlock.Resolver{
		"drive": pathlock.TreeResolver("drive"),
	}})
	drive, parent := lockspec.Param("drive").Kind("drive"), lockspec.JSON("parent_id")
	name := lockspec.JSON("name").Map(strings.TrimSpace)
	engine.POST("/drives/:drive/folders", locks.Lock(lockspec.Insert(parent.OrTop(drive), name)), f.handle(f.create))
	engine.POST("/folders/:id/move", locks.Lock(lockspec.Move(lockspec.Param("id"), parent.OrTop())), f.handle(f.move))
	for _, step := range []struct {
		target, body string
		paths        string
	}{
		{"/drives/a/folders", `{"name":" photos "}`, "/photos"},
		{"/drives/a/folders", `{"parent_id":null,"name":"archive"}`, "/archive /photos"},
		{"/drives/a/folders", `{"parent_id":1,"name":"2024\n"}`, "/archive /photos /photos/2024"},
		{"/folders/3/move", `{"parent_id":2}`, "/archive /archive/2024 /photos"},
		{"/folders/3/move", `{"parent_id":null}`, "/2024 /archive /photos"},
		{"/folders/2/move", `{"parent_id":3}`, "/2024 /2024/archive /photos"},
		{"/folders/2/move", `{}`, "/2024 /archive /photos"},
	} {
		f.operations = nil
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, step.target, strings.NewReader(step.body)))
		if w.Code != http.StatusOK || len(f.operations) != 1 {
			t.Errorf("%s %s: got %d %s and %d locks, want one for everything", step.target, step.body, w.Code, w.Body, len(f.operations))
		}
		var paths []string
		testerr.Must(t, f.Model(&Folder{}).Pluck("path", &paths).Error)
		slices.Sort(paths)
		if got := strings.Join(paths, " "); got != step.paths {
			t.Errorf("%s %s: the paths are %s, want %s", step.target, step.body, got, step.paths)
		}
	}
}

// What the plugin locks on its own says what it does. Work of a larger operation keeps the name of
// that.
func TestOperation_namesTheLocksOfAWrite(t *testing.T) {
	f := openFolders(t)
	a, b := &Folder{DriveID: "1", Name: "a"}, &Folder{DriveID: "1", Name: "b"}
	err := errors.Join(
		f.Create(a).Error, f.Create(b).Error, f.Model(a).Update("name", "c").Error, f.Model(a).Update("parent_id", b.ID).Error,
		f.Model(a).Updates(map[string]any{"parent_id": nil, "name": "d"}).Error,
	)
	_, copied := gormplugin.Copy(f.DB, &Folder{}, a.ID, gormplugin.Below(b.ID))
	ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "import"})
	testerr.Must(t, errors.Join(err, copied, f.Delete(a).Error, f.WithContext(ctx).Create(&Folder{DriveID: "1", Name: "h"}).Error))
	if got := fmt.Sprint(slices.Compact(f.operations)); got != "[insert rename move update copy delete import]" {
		t.Errorf("the locks are of %s", got)
	}
}
