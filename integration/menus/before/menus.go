// Package menus is the menus of a back end, as many programs on gin and GORM have them.
package menus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
	"gorm.io/plugin/soft_delete"

	"github.com/pathlock-go/pathlock/integration/internal/rest"
)

// Menu is a menu, a page or a button in it. Its path is "/0/1/7": the ids from the top, its own
// included. Most have no name.
type Menu struct {
	MenuID    int                   `json:"menuId" gorm:"primaryKey"`
	MenuName  string                `json:"menuName" gorm:"size:128"`
	Title     string                `json:"title" gorm:"size:128"`
	ParentID  int                   `json:"parentId"`
	Paths     string                `json:"paths" gorm:"size:128"`
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
}

// Routes serves the menus of a database until ctx ends. The Redis has the sessions.
func Routes(ctx context.Context, db *gorm.DB, _ redis.UniversalClient) (*gin.Engine, error) {
	if err := db.WithContext(ctx).AutoMigrate(&Menu{}); err != nil {
		return nil, err
	}
	h := handlers{db}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/menu", h.list)
	r.POST("/menu", rest.Change(h.db, h.answer, create))
	r.PUT("/menu/:id", rest.Change(h.db, h.answer, update))
	r.DELETE("/menu", rest.Change(h.db, h.answer, remove))
	return r, nil
}

func (h handlers) list(c *gin.Context) {
	var all []Menu
	h.answer(c, &all, h.db.WithContext(c.Request.Context()).Order("menu_id").Find(&all).Error)
}

func create(db *gorm.DB, m *Menu, in form) error {
	m.ParentID, m.MenuName, m.Title = in.ParentID, in.MenuName, in.Title
	return errors.Join(db.Create(m).Error, place(db, m))
}

// update gives a menu another title, another parent, or both.
func update(db *gorm.DB, m *Menu, in form) error {
	old := m.Paths
	m.ParentID, m.MenuName, m.Title = in.ParentID, in.MenuName, in.Title
	return errors.Join(db.Save(m).Error, place(db, m), follow(db, old, m.Paths))
}

func remove(db *gorm.DB, _ *Menu, in form) error { return db.Delete(&Menu{}, in.IDs).Error }

// place writes the path of a menu below its parent.
func place(db *gorm.DB, m *Menu) error {
	parent := Menu{Paths: "/0"}
	if err := db.Find(&parent, "menu_id = ?", m.ParentID).Error; err != nil {
		return err
	}
	return db.Model(m).Update("paths", fmt.Sprintf("%s/%d", parent.Paths, m.MenuID)).Error
}

// follow rewrites the paths below a menu that has moved.
func follow(db *gorm.DB, from, to string) error {
	var below []Menu
	err := db.Find(&below, "paths LIKE ?", from+"%").Error
	for _, m := range below {
		err = errors.Join(err, db.Model(&m).Update("paths", strings.Replace(m.Paths, from, to, 1)).Error)
	}
	return err
}

func (h handlers) answer(c *gin.Context, data any, err error) {
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"code": 500, "msg": err.Error()})
		return
	}
	c.JSON(http.StatusOK, gin.H{"code": 200, "data": data})
}
