// A wiki: the pages of a space are a tree, and each page has the path of its place.
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
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/promobserver"
	"github.com/pathlock-go/pathlock/store/offstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// Page is a node of the tree. A space has one page without a parent, whose path is "".
type Page struct {
	ID       int64  `json:"id"`
	SpaceID  int64  `json:"space_id" gorm:"index:pages_path,priority:1" pathlock:"tree"`
	ParentID *int64 `json:"parent_id" gorm:"index" pathlock:"parent"`
	Name     string `json:"name" gorm:"size:255" pathlock:"name"`
	Path     string `json:"path" gorm:"size:700;index:pages_path,priority:2" pathlock:"path"`
	Body     string `json:"body"`
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen on")
	file := flag.String("sqlite", "wiki.db", "SQLite file")
	dsn := flag.String("mysql", "", "MySQL data source, instead of the file")
	locks := flag.String("locks", "", "URL of Redis for the locks; without it, the assertion is alone")
	flag.Parse()
	if err := run(*addr, *file, *dsn, *locks); err != nil {
		log.Fatal(err)
	}
}

func run(addr, file, dsn, locks string) error {
	database := gormlite.Open("file:" + file + "?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	if dsn != "" {
		database = mysql.Open(dsn)
	}
	db, err := gorm.Open(database)
	if err != nil {
		return err
	}
	var store pathlock.Store = offstore.New() // it grants everything
	if locks != "" {
		shared, err := redisstore.Open(locks)
		if err != nil {
			return err
		}
		defer func() { _ = shared.Close(context.Background()) }()
		store = shared
	}
	collisions := promobserver.New()
	prometheus.MustRegister(collisions)
	locker := pathlock.New(store, pathlock.WithObserver(collisions))
	plugin := gormplugin.New(locker, gormplugin.Model(&Page{}))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		return err
	}
	if err := db.Where("space_id = ? AND parent_id IS NULL", 1).FirstOrCreate(&Page{SpaceID: 1}).Error; err != nil {
		return err
	}
	app := &wiki{db: db, locks: middleware.New(locker, plugin.Resolver(&Page{}), middleware.Config{})}
	srv := &http.Server{Addr: addr, Handler: app.routes(), ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute}
	return errors.Join(serve(srv), locker.Shutdown(context.Background()))
}

// serve serves until the process is told to stop, and lets requests finish.
func serve(srv *http.Server) error {
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	failed := make(chan error, 1)
	go func() {
		failed <- srv.ListenAndServe()
		stop()
	}()
	<-stopped.Done()
	if err := srv.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type wiki struct {
	db    *gorm.DB
	locks *middleware.Locks
}

func (w *wiki) routes() *gin.Engine {
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/metrics", gin.WrapH(promhttp.Handler()))
	r.GET("/spaces/:space/pages", w.list)
	r.POST("/pages", w.locks.Lock(lockspec.Insert(parent, name)), w.create)
	r.PATCH("/pages/:id", w.locks.Lock(lockspec.Rename(id, name)), w.rename)
	r.POST("/pages/:id/move", w.locks.Lock(lockspec.Move(id, parent)), w.move)
	r.DELETE("/pages/:id", w.locks.Lock(lockspec.Delete(id)), w.remove)
	return r
}

func (w *wiki) list(c *gin.Context) {
	pages := []Page{}
	err := w.db.WithContext(c).Order("path").Find(&pages, "space_id = ?", c.Param("space")).Error
	w.answer(c, pages, err)
}

func (w *wiki) create(c *gin.Context) {
	var page Page
	if !w.read(c, &page) {
		return
	}
	page = Page{ParentID: page.ParentID, Name: page.Name, Body: page.Body}
	w.answer(c, &page, w.db.WithContext(c).Create(&page).Error)
}

func (w *wiki) rename(c *gin.Context) {
	var body Page
	if !w.read(c, &body) {
		return
	}
	w.relocate(c, func(tx *gorm.DB, page *Page) error {
		return gormplugin.Rename(tx, page, c.Param("id"), body.Name)
	})
}

func (w *wiki) move(c *gin.Context) {
	var body Page
	if !w.read(c, &body) {
		return
	}
	w.relocate(c, func(tx *gorm.DB, page *Page) error {
		return gormplugin.Move(tx, page, c.Param("id"), gormplugin.Below(body.ParentID))
	})
}

func (w *wiki) remove(c *gin.Context) {
	deleted, err := gormplugin.Delete(w.db.WithContext(c), &Page{}, c.Param("id"))
	w.answer(c, gin.H{"deleted": deleted}, err)
}

// relocate gives a page another place. Rename and Move set the columns of the place only, so the
// rest of the answer is read in the same transaction.
func (w *wiki) relocate(c *gin.Context, change func(tx *gorm.DB, page *Page) error) {
	var page Page
	err := gormplugin.Transaction(c, w.db, func(tx *gorm.DB) error {
		if err := change(tx, &page); err != nil {
			return err
		}
		return tx.Take(&page).Error
	})
	w.answer(c, &page, err)
}

func (w *wiki) read(c *gin.Context, body any) bool {
	err := c.ShouldBindJSON(body)
	if err != nil {
		w.locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not a page in JSON"))
	}
	return err == nil
}

func (w *wiki) answer(c *gin.Context, body any, err error) {
	if err != nil {
		w.locks.Fail(c, err)
		return
	}
	c.JSON(http.StatusOK, body)
}
