package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Folder is a row of a tree that has no root row.
type Folder struct {
	ID       int64
	DriveID  string `pathlock:"tree" gorm:"uniqueIndex:folder_sibling"`
	ParentID *int64 `pathlock:"parent" gorm:"uniqueIndex:folder_sibling"`
	Name     string `pathlock:"name" gorm:"size:255;uniqueIndex:folder_sibling"`
	Path     string `pathlock:"path" gorm:"size:766"`
}

// Note is a leaf: it lies in a folder.
type Note struct {
	ID       int64
	FolderID int64  `pathlock:"parent" gorm:"uniqueIndex:note_sibling"`
	Name     string `pathlock:"name" gorm:"size:255;uniqueIndex:note_sibling"`
}

// countingStore counts what is asked of a lock store.
type countingStore struct {
	pathlock.Store
	acquired atomic.Int64
}

func (s *countingStore) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	s.acquired.Add(1)
	return s.Store.Acquire(ctx, a)
}

// topServer creates and moves folders. A parent_id that is null is the top of the drive, and names
// are trimmed.
type topServer struct {
	*testing.T
	db     *gorm.DB
	engine *gin.Engine
	store  *countingStore
}

// openFolders opens a database of folders and of the notes in them.
func openFolders(t *testing.T, locker *pathlock.Locker) (*gorm.DB, *gormplugin.Plugin) {
	t.Helper()
	db, err := gorm.Open(gormlite.Open("file:"+filepath.Join(t.TempDir(), "db")+"?_txlock=immediate&_pragma=busy_timeout(5000)"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
	})
	plugin := gormplugin.New(locker, gormplugin.Model(&Folder{}, gormplugin.Namespace("drive")), gormplugin.Leaf(&Note{}, &Folder{}))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		t.Fatal(err)
	}
	return db, plugin
}

func newTopServer(t *testing.T) *topServer {
	t.Helper()
	s := &topServer{T: t, engine: gin.New(), store: &countingStore{Store: memstore.New()}}
	locker := pathlock.New(s.store)
	db, plugin := openFolders(t, locker)
	s.db = db
	locks := middleware.New(locker, plugin.Resolver(&Folder{}), middleware.Config{Resolvers: map[string]pathlock.Resolver{
		"drive": pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
			tree, err := pathlock.NewTree("drive", id)
			return pathlock.Location{Tree: tree}, err
		}),
	}})
	drive, parent := lockspec.Param("drive").Kind("drive"), lockspec.JSON("parent_id")
	name := lockspec.JSON("name").Map(strings.TrimSpace)
	s.engine.POST("/drives/:drive/folders", locks.Lock(lockspec.Insert(parent.OrTop(drive), name)), s.handle(s.create))
	s.engine.POST("/folders/:id/move", locks.Lock(lockspec.Move(lockspec.Param("id"), parent.OrTop())), s.handle(s.move))
	return s
}

type folderBody struct {
	ParentID *int64 `json:"parent_id"`
	Name     string `json:"name"`
}

func (s *topServer) create(c *gin.Context, tx *gorm.DB, body folderBody) error {
	return tx.Create(&Folder{DriveID: c.Param("drive"), ParentID: body.ParentID, Name: strings.TrimSpace(body.Name)}).Error
}

func (s *topServer) move(c *gin.Context, tx *gorm.DB, body folderBody) error {
	var folder Folder
	if err := tx.Where("id = ?", c.Param("id")).Take(&folder).Error; err != nil {
		return err
	}
	return tx.Model(&folder).Update("parent_id", body.ParentID).Error
}

// handle answers with how often a lock was asked for, the middleware's own time included.
func (s *topServer) handle(write func(*gin.Context, *gorm.DB, folderBody) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		var body folderBody
		if err := c.ShouldBind(&body); err != nil {
			c.String(http.StatusBadRequest, "%v", err)
			return
		}
		err := gormplugin.Transaction(c.Request.Context(), s.db, func(tx *gorm.DB) error { return write(c, tx, body) })
		if err != nil {
			c.String(http.StatusConflict, "%v", err)
			return
		}
		c.String(http.StatusOK, "locked %d", s.store.acquired.Load())
	}
}

// What the spec locks at the top of a tree is all that the plugin needs there: it takes none
// itself.
func TestTheTopOfATreeIsLockedByTheSpec(t *testing.T) {
	s := newTopServer(t)
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
		s.store.acquired.Store(0)
		w := httptest.NewRecorder()
		s.engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, step.target, strings.NewReader(step.body)))
		if got := fmt.Sprint(w.Code, " ", w.Body); got != "200 locked 1" {
			t.Errorf("%s %s: got %s, want one lock for everything", step.target, step.body, got)
		}
		var paths []string
		if err := s.db.Model(&Folder{}).Pluck("path", &paths).Error; err != nil {
			t.Fatal(err)
		}
		slices.Sort(paths)
		if got := strings.Join(paths, " "); got != step.paths {
			t.Errorf("%s %s: the paths are %s, want %s", step.target, step.body, got, step.paths)
		}
	}
}
