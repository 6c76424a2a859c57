// Package departments is the departments of a back end, as many programs on gin and GORM have them.
package departments

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
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// Dept is a department. Its path is "/0/1/7/": the ids from the top, its own included.
type Dept struct {
	DeptID    int                   `json:"deptId" gorm:"primaryKey"`
	ParentID  int                   `json:"parentId" pathlock:"parent"`
	DeptPath  string                `json:"deptPath" gorm:"size:255" pathlock:"idpath,form:/0/*/*/"`
	DeptName  string                `json:"deptName" gorm:"size:128"`
	Sort      int                   `json:"sort"`
	DeletedAt soft_delete.DeletedAt `json:"-" gorm:"softDelete:milli;default:0"`
}

// TableName is the table's name.
func (Dept) TableName() string { return "sys_dept" }

// form is what clients send.
type form struct {
	ParentID int    `json:"parentId"`
	DeptName string `json:"deptName"`
	Sort     int    `json:"sort"`
}

type handlers struct {
	db *gorm.DB

	locks *middleware.Locks
}

// Routes serves the departments of a database until ctx ends. The Redis has the sessions.
func Routes(ctx context.Context, db *gorm.DB, client redis.UniversalClient) (*gin.Engine, error) {
	store := redisstore.New(client)
	locker, end := pathlock.New(store), context.WithoutCancel(ctx)
	context.AfterFunc(ctx, func() { _ = errors.Join(locker.Shutdown(end), store.Close(end)) })
	plugin := gormplugin.New(locker, gormplugin.Model(&Dept{}, gormplugin.SingleTree("departments")))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db.WithContext(ctx))); err != nil {
		return nil, err
	}
	h := handlers{db, middleware.New(locker, plugin.Resolver(&Dept{}), middleware.Config{})}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/dept", h.list)
	r.POST("/dept", h.create)
	r.PUT("/dept/:id", h.locks.Lock(lockspec.Move(lockspec.Param("id"), lockspec.JSON("parentId").OrTop()).Asserted()), h.update)
	r.DELETE("/dept", h.locks.Lock(lockspec.Delete(lockspec.JSON("ids").Each()).Asserted()), h.remove)
	return r, nil
}

func (h handlers) list(c *gin.Context) {
	var all []Dept
	h.answer(c, &all, h.db.WithContext(c.Request.Context()).Order("sort, dept_id").Find(&all).Error)
}

func (h handlers) create(c *gin.Context) {
	var in form
	if err := c.ShouldBindJSON(&in); err != nil {
		h.answer(c, nil, err)
		return
	}
	db, d := h.db.WithContext(c.Request.Context()), Dept{ParentID: in.ParentID, DeptName: in.DeptName, Sort: in.Sort}
	h.answer(c, &d, db.Create(&d).Error)
}

// update renames a department, moves it, or both.
func (h handlers) update(c *gin.Context) {
	var in form
	var d Dept
	db := h.db.WithContext(c.Request.Context())
	if err := errors.Join(c.ShouldBindJSON(&in), db.First(&d, c.Param("id")).Error); err != nil {
		h.answer(c, nil, err)
		return
	}
	d.ParentID, d.DeptName, d.Sort = in.ParentID, in.DeptName, in.Sort
	h.answer(c, &d, db.Save(&d).Error)
}

func (h handlers) remove(c *gin.Context) {
	var in struct {
		IDs []int `json:"ids"`
	}
	if err := c.ShouldBindJSON(&in); err != nil {
		h.answer(c, nil, err)
		return
	}
	h.answer(c, in.IDs, h.db.WithContext(c.Request.Context()).Delete(&Dept{}, in.IDs).Error)
}

func (h handlers) answer(c *gin.Context, data any, err error) {
	if err != nil {
		h.locks.Fail(c, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"code": 200, "data": data})
}
