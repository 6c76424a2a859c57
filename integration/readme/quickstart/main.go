// Folders behind HTTP, with SQLite and locks in memory.
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
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

type Folder struct {
	ID       int64  `json:"id"`
	ShelfID  int64  `json:"shelf_id" pathlock:"tree"`
	ParentID *int64 `json:"parent_id" pathlock:"parent"`
	Name     string `json:"name" pathlock:"name"`
	Path     string `json:"path" pathlock:"path"`
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen on")
	flag.Parse()
	locker := pathlock.New(memstore.New()) // for several processes: redisstore.Open
	plugin := gormplugin.New(locker, gormplugin.Model(&Folder{}))
	db, err := gorm.Open(gormlite.Open("file:folders.db?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"))
	if err == nil {
		err = db.Use(plugin)
	}
	if err == nil {
		err = gormplugin.AutoMigrate(db)
	}
	if err == nil { // the root of shelf 1: no parent, an empty name and path
		err = db.Where("shelf_id = ? AND parent_id IS NULL", 1).FirstOrCreate(&Folder{ShelfID: 1}).Error
	}
	if err != nil && !errors.Is(err, gormplugin.ErrRootRow) { // ErrRootRow: another process has made it
		log.Fatal(err)
	}
	locks := middleware.New(locker, plugin.Resolver(&Folder{}), middleware.Config{})
	srv := &http.Server{Addr: *addr, Handler: routes(db, locks), ReadTimeout: 15 * time.Second, WriteTimeout: 2 * time.Minute}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	go func() {
		log.Print(srv.ListenAndServe())
		stop()
	}()
	<-stopped.Done()
	// The order matters: requests end first, then the releases that they began.
	if err := errors.Join(srv.Shutdown(context.Background()), locker.Shutdown(context.Background())); err != nil {
		log.Fatal(err)
	}
}

func routes(db *gorm.DB, locks *middleware.Locks) *gin.Engine {
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	r := gin.Default()
	r.GET("/folders", func(c *gin.Context) {
		var folders []Folder
		err := db.WithContext(c.Request.Context()).Order("path").Find(&folders).Error
		answer(c, locks, folders, err)
	})
	r.POST("/folders", locks.Lock(lockspec.Insert(parent, name)), func(c *gin.Context) {
		var folder Folder
		if !read(c, locks, &folder) {
			return
		}
		folder = Folder{ShelfID: 1, ParentID: folder.ParentID, Name: folder.Name}
		answer(c, locks, &folder, db.WithContext(c.Request.Context()).Create(&folder).Error)
	})
	r.PATCH("/folders/:id", locks.Lock(lockspec.Rename(id, name)), func(c *gin.Context) {
		var folder Folder
		if !read(c, locks, &folder) {
			return
		}
		// Rename fills in every field of a Folder. Read the row first if it has other columns.
		err := gormplugin.Rename(db.WithContext(c.Request.Context()), &folder, c.Param("id"), folder.Name)
		answer(c, locks, &folder, err)
	})
	r.DELETE("/folders/:id", locks.Lock(lockspec.Delete(id)), func(c *gin.Context) {
		rows, err := gormplugin.Delete(db.WithContext(c.Request.Context()), &Folder{}, c.Param("id"))
		answer(c, locks, gin.H{"deleted": rows}, err)
	})
	return r
}

func read(c *gin.Context, locks *middleware.Locks, body any) bool {
	err := c.ShouldBindJSON(body)
	if err != nil {
		locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not a folder in JSON"))
	}
	return err == nil
}

func answer(c *gin.Context, locks *middleware.Locks, body any, err error) {
	if err != nil {
		locks.Fail(c, err)
		return
	}
	c.JSON(http.StatusOK, body)
}
