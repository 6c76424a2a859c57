// A wiki: the pages of a space are a tree, and each page has the path of its place.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
)

// Page is a node of the tree. A space has one page without a parent, whose path is "".
type Page struct {
	ID       int64  `json:"id"`
	SpaceID  int64  `json:"space_id" gorm:"index:pages_path,priority:1"`
	ParentID *int64 `json:"parent_id" gorm:"index"`
	Name     string `json:"name" gorm:"size:255"`
	Path     string `json:"path" gorm:"size:700;index:pages_path,priority:2"`
	Body     string `json:"body"`
}

var errTaken = errors.New("a page of this name is there already")

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen on")
	file := flag.String("sqlite", "wiki.db", "SQLite file")
	dsn := flag.String("mysql", "", "MySQL data source, instead of the file")
	flag.Parse()
	if err := run(*addr, *file, *dsn); err != nil {
		log.Fatal(err)
	}
}

func run(addr, file, dsn string) error {
	database := gormlite.Open("file:" + file + "?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	if dsn != "" {
		database = mysql.Open(dsn)
	}
	db, err := gorm.Open(database)
	if err != nil {
		return err
	}
	if err := db.AutoMigrate(&Page{}); err != nil {
		return err
	}
	if err := db.Where("space_id = ? AND parent_id IS NULL", 1).FirstOrCreate(&Page{SpaceID: 1}).Error; err != nil {
		return err
	}
	app := &wiki{db: db}
	srv := &http.Server{Addr: addr, Handler: app.routes(), ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute}
	return serve(srv)
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
	db *gorm.DB
}

func (w *wiki) routes() *gin.Engine {
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/spaces/:space/pages", w.list)
	r.POST("/pages", w.create)
	r.PATCH("/pages/:id", w.rename)
	r.POST("/pages/:id/move", w.move)
	r.DELETE("/pages/:id", w.remove)
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
	var parent Page
	if err := w.db.WithContext(c).Take(&parent, "id = ?", page.ParentID).Error; err != nil {
		w.answer(c, nil, err)
		return
	}
	page.SpaceID, page.Path = parent.SpaceID, parent.Path+"/"+page.Name
	if err := free(w.db.WithContext(c), page.SpaceID, page.Path); err != nil {
		w.answer(c, nil, err)
		return
	}
	w.answer(c, &page, w.db.WithContext(c).Create(&page).Error)
}

func (w *wiki) rename(c *gin.Context) {
	var body, page Page
	if !w.read(c, &body) {
		return
	}
	if err := w.db.WithContext(c).Take(&page, "id = ?", c.Param("id")).Error; err != nil {
		w.answer(c, nil, err)
		return
	}
	path := strings.TrimSuffix(page.Path, page.Name) + body.Name
	w.answer(c, &page, relocate(w.db.WithContext(c), &page, page.ParentID, body.Name, path))
}

func (w *wiki) move(c *gin.Context) {
	var body, page, parent Page
	if !w.read(c, &body) {
		return
	}
	if err := w.db.WithContext(c).Take(&page, "id = ?", c.Param("id")).Error; err != nil {
		w.answer(c, nil, err)
		return
	}
	if err := w.db.WithContext(c).Take(&parent, "id = ?", body.ParentID).Error; err != nil {
		w.answer(c, nil, err)
		return
	}
	if strings.HasPrefix(parent.Path+"/", page.Path+"/") {
		c.AbortWithStatusJSON(http.StatusConflict, gin.H{"error": "a page cannot move below itself"})
		return
	}
	w.answer(c, &page, relocate(w.db.WithContext(c), &page, &parent.ID, page.Name, parent.Path+"/"+page.Name))
}

func (w *wiki) remove(c *gin.Context) {
	var page Page
	if err := w.db.WithContext(c).Take(&page, "id = ?", c.Param("id")).Error; err != nil {
		w.answer(c, nil, err)
		return
	}
	deleted := w.db.WithContext(c).Delete(&Page{}, "space_id = ? AND (id = ? OR path LIKE ?)", page.SpaceID, page.ID, page.Path+"/%")
	w.answer(c, gin.H{"deleted": deleted.RowsAffected}, deleted.Error)
}

// relocate gives a page another place, and its descendants the paths that follow from it.
func relocate(db *gorm.DB, page *Page, parent *int64, name, path string) error {
	if path == page.Path {
		return nil
	}
	if err := free(db, page.SpaceID, path); err != nil {
		return err
	}
	old := page.Path
	return db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Model(page).Updates(Page{ParentID: parent, Name: name, Path: path}).Error; err != nil {
			return err
		}
		return tx.Model(&Page{}).Where("space_id = ? AND path LIKE ?", page.SpaceID, old+"/%").
			Update("path", gorm.Expr("CONCAT(?, SUBSTR(path, ?))", path, utf8.RuneCountInString(old)+1)).Error
	})
}

// free returns an error if the path is taken.
func free(db *gorm.DB, space int64, path string) error {
	var count int64
	if err := db.Model(&Page{}).Where("space_id = ? AND path = ?", space, path).Count(&count).Error; err != nil {
		return err
	}
	if count > 0 {
		return errTaken
	}
	return nil
}

func (w *wiki) read(c *gin.Context, body any) bool {
	err := c.ShouldBindJSON(body)
	if err != nil {
		c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": "the body is not a page in JSON"})
	}
	return err == nil
}

func (w *wiki) answer(c *gin.Context, body any, err error) {
	switch {
	case errors.Is(err, gorm.ErrRecordNotFound):
		c.AbortWithStatusJSON(http.StatusNotFound, gin.H{"error": "no such page"})
	case errors.Is(err, errTaken):
		c.AbortWithStatusJSON(http.StatusConflict, gin.H{"error": err.Error()})
	case err != nil:
		log.Print(err)
		c.AbortWithStatusJSON(http.StatusInternalServerError, gin.H{"error": "internal error"})
	default:
		c.JSON(http.StatusOK, body)
	}
}
