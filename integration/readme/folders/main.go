// Folders with files, behind HTTP, on SQLite or on MySQL and Redis.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// Folder is a node of the tree.
type Folder struct {
	ID       int64  `json:"id"`
	ShelfID  int64  `json:"shelf_id" pathlock:"tree"`
	ParentID *int64 `json:"parent_id" pathlock:"parent"`
	Name     string `json:"name" pathlock:"name"`
	Path     string `json:"path" pathlock:"path"`
}

// File is a leaf.
type File struct {
	ID       int64  `json:"id"`
	FolderID int64  `json:"folder_id" pathlock:"parent"`
	Name     string `json:"name" pathlock:"name"`
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen on")
	dsn := flag.String("mysql", "", "MySQL data source, such as user:pass@tcp(127.0.0.1:3306)/folders; an SQLite file by default")
	redisURL := flag.String("redis", "", "URL of Redis, such as redis://127.0.0.1:6379/0; locks in memory by default")
	flag.Parse()
	if err := run(*addr, *dsn, *redisURL); err != nil {
		log.Fatal(err)
	}
}

func run(addr, dsn, redisURL string) error {
	var store pathlock.Store = memstore.New() // for one process
	if redisURL != "" {
		shared, err := redisstore.Open(redisURL)
		if err != nil {
			return err
		}
		defer func() { _ = shared.Close(context.Background()) }()
		store = shared
	}
	locker := pathlock.New(store)
	database := gormlite.Open("file:folders.db?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	if dsn != "" {
		database = mysql.Open(dsn)
	}
	db, err := gorm.Open(database)
	if err != nil {
		return err
	}
	plugin := gormplugin.New(locker, gormplugin.Model(&Folder{}), gormplugin.Leaf(&File{}, &Folder{}))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		return err
	}
	// The first row of a tree has no parent. It is the root: its name and its path are "".
	root := Folder{ShelfID: 1}
	if err := db.Where("shelf_id = ? AND parent_id IS NULL", 1).FirstOrCreate(&root).Error; err != nil {
		return err
	}
	return serve(addr, routes(db, locker, plugin), locker)
}

func routes(db *gorm.DB, locker *pathlock.Locker, plugin *gormplugin.Plugin) *gin.Engine {
	locks := middleware.New(locker, plugin.Resolver(&Folder{}), middleware.Config{})
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")

	r := gin.New()
	r.Use(gin.Recovery())
	// Authentication and authorisation go here, before any lock is taken.
	r.GET("/folders", func(c *gin.Context) {
		folders := []Folder{}
		err := db.WithContext(c.Request.Context()).Order("path").Find(&folders).Error
		answer(c, locks, folders, err)
	})
	r.POST("/folders", locks.Lock(lockspec.Insert(parent, name)), func(c *gin.Context) {
		var body struct {
			ParentID int64 `json:"parent_id"`
			Name     string
		}
		if !read(c, locks, &body) {
			return
		}
		folder := Folder{ShelfID: 1, ParentID: &body.ParentID, Name: body.Name}
		answer(c, locks, &folder, db.WithContext(c.Request.Context()).Create(&folder).Error)
	})
	r.PATCH("/folders/:id", locks.Lock(lockspec.Rename(id, name)), func(c *gin.Context) {
		var body struct{ Name string }
		if !read(c, locks, &body) {
			return
		}
		var folder Folder
		err := gormplugin.Transaction(c.Request.Context(), db, func(tx *gorm.DB) error {
			if err := tx.Take(&folder, "id = ?", c.Param("id")).Error; err != nil {
				return err
			}
			return tx.Model(&folder).Update("name", body.Name).Error
		})
		answer(c, locks, &folder, err)
	})
	r.DELETE("/folders/:id", locks.Lock(lockspec.Delete(id)), func(c *gin.Context) {
		err := gormplugin.Transaction(c.Request.Context(), db, func(tx *gorm.DB) error {
			var folder Folder
			if err := tx.Take(&folder, "id = ?", c.Param("id")).Error; err != nil {
				return err
			}
			// The plugin deletes the folders below, but not their files: delete those first.
			if err := gormplugin.Leaves(tx, &File{}, folder.ID).Delete(&File{}).Error; err != nil {
				return err
			}
			return tx.Delete(&folder).Error
		})
		answer(c, locks, nil, err)
	})
	// This locks the name of the file, just as for a folder. Nobody can move or delete the folder
	// in the meantime.
	r.POST("/folders/:id/files", locks.Lock(lockspec.Insert(id, name)), func(c *gin.Context) {
		var body struct{ Name string }
		if !read(c, locks, &body) {
			return
		}
		var file File
		err := gormplugin.Transaction(c.Request.Context(), db, func(tx *gorm.DB) error {
			var folder Folder
			if err := tx.Take(&folder, "id = ?", c.Param("id")).Error; err != nil {
				return err
			}
			file = File{FolderID: folder.ID, Name: body.Name}
			return tx.Create(&file).Error
		})
		answer(c, locks, &file, err)
	})
	return r
}

func read(c *gin.Context, locks *middleware.Locks, body any) bool {
	err := c.ShouldBindJSON(body)
	if err != nil {
		locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not the JSON that this route expects"))
	}
	return err == nil
}

func answer(c *gin.Context, locks *middleware.Locks, body any, err error) {
	switch {
	case err != nil:
		locks.Fail(c, err)
	case body == nil:
		c.Status(http.StatusNoContent)
	default:
		c.JSON(http.StatusOK, body)
	}
}

// serve answers requests until a signal stops it, and finishes those that have begun.
func serve(addr string, handler http.Handler, locker *pathlock.Locker) error {
	srv := &http.Server{
		Addr: addr, Handler: handler,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute,
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- srv.ListenAndServe() }()
	log.Printf("folders on http://%s/folders", addr)
	select {
	case err := <-failed:
		return err
	case <-stopped.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// The order matters: requests end first, then the releases that they began.
	return errors.Join(srv.Shutdown(ctx), locker.Shutdown(ctx))
}
