// Package menus is the menus of a back end, as many programs on gin and GORM have them.
package menus

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
	"gorm.io/plugin/soft_delete"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/rest"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// Menu is a menu, a page or a button in it. Its path is "/0/1/7": the ids from the top, its own
// included. Most have no name.
type Menu struct {
	MenuID    int                   `json:"menuId" gorm:"primaryKey"`
	MenuName  string                `json:"menuName" gorm:"size:128"`
	Title     string                `json:"title" gorm:"size:128"`
	ParentID  int                   `json:"parentId" pathlock:"parent"`
	Paths     string                `json:"paths" gorm:"size:128" pathlock:"idpath,form:/0/*/*"`
	DeletedAt soft_delete.DeletedAt `json:"-" gorm:"softDelete:milli;default:0"`
}

// TableName is the table's name.
func (Menu) TableName() string { return "sys_menu" }

// form is what clients send.
type form struct {
	ParentID int    `json:"parentId"`
	MenuName string `json:"menuName"`
	Title    string `json:"title"`
	IDs      []int  `json:"ids"`
}

type handlers struct {
	db *gorm.DB

	locks *middleware.Locks
}

// Routes serves the menus of a database until ctx ends. The Redis has the sessions.
func Routes(ctx context.Context, db *gorm.DB, client redis.UniversalClient) (*gin.Engine, error) {
	store := redisstore.New(client)
	locker, end := pathlock.New(store), context.WithoutCancel(ctx)
	context.AfterFunc(ctx, func() { _ = errors.Join(locker.Shutdown(end), store.Close(end)) })
	plugin := gormplugin.New(locker, gormplugin.Model(&Menu{}, gormplugin.SingleTree("menus")))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db.WithContext(ctx))); err != nil {
		return nil, err
	}
	h := handlers{db, middleware.New(locker, plugin.Resolver(&Menu{}), middleware.Config{})}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/menu", h.list)
	r.POST("/menu", rest.Change(h.db, h.answer, create))
	r.PUT("/menu/:id", h.locks.Lock(lockspec.Move(lockspec.Param("id"), lockspec.JSON("parentId").OrTop())), rest.Change(h.db, h.answer, update))
	r.DELETE("/menu", h.locks.Lock(lockspec.Delete(lockspec.JSON("ids").Each())), rest.Change(h.db, h.answer, remove))
	return r, nil
}

func (h handlers) list(c *gin.Context) {
	var all []Menu
	h.answer(c, &all, h.db.WithContext(c.Request.Context()).Order("menu_id").Find(&all).Error)
}

func create(db *gorm.DB, m *Menu, in form) error {
	m.ParentID, m.MenuName, m.Title = in.ParentID, in.MenuName, in.Title
	return db.Create(m).Error
}

// update gives a menu another title, another parent, or both.
func update(db *gorm.DB, m *Menu, in form) error {
	m.ParentID, m.MenuName, m.Title = in.ParentID, in.MenuName, in.Title
	return db.Save(m).Error
}

func remove(db *gorm.DB, _ *Menu, in form) error { return db.Delete(&Menu{}, in.IDs).Error }

func (h handlers) answer(c *gin.Context, data any, err error) {
	if err != nil {
		h.locks.Fail(c, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"code": 200, "data": data})
}
