// Package departments is the departments of a back end, as many programs on gin and GORM have them.
package departments

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
	"gorm.io/plugin/soft_delete"
)

// Dept is a department. Its path is "/0/1/7/": the ids from the top, its own included.
type Dept struct {
	DeptID    int                   `json:"deptId" gorm:"primaryKey"`
	ParentID  int                   `json:"parentId"`
	DeptPath  string                `json:"deptPath" gorm:"size:255"`
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
}

// Routes serves the departments of a database until ctx ends. The Redis has the sessions.
func Routes(ctx context.Context, db *gorm.DB, _ redis.UniversalClient) (*gin.Engine, error) {
	if err := db.WithContext(ctx).AutoMigrate(&Dept{}); err != nil {
		return nil, err
	}
	h := handlers{db}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/dept", h.list)
	r.POST("/dept", h.create)
	r.PUT("/dept/:id", h.update)
	r.DELETE("/dept", h.remove)
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
	h.answer(c, &d, errors.Join(db.Create(&d).Error, place(db, &d)))
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
	h.answer(c, &d, errors.Join(db.Save(&d).Error, place(db, &d)))
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

// place writes the path of a department below its parent.
func place(db *gorm.DB, d *Dept) error {
	parent := Dept{DeptPath: "/0/"}
	if err := db.Find(&parent, "dept_id = ?", d.ParentID).Error; err != nil {
		return err
	}
	return db.Model(d).Update("dept_path", fmt.Sprintf("%s%d/", parent.DeptPath, d.DeptID)).Error
}

func (h handlers) answer(c *gin.Context, data any, err error) {
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"code": 500, "msg": err.Error()})
		return
	}
	c.JSON(http.StatusOK, gin.H{"code": 200, "data": data})
}
