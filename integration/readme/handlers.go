package readme

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/middleware"
)

// The handlers that the pages do not show.

type placement struct {
	ParentID *int64 `json:"parent_id"`
	Name     string `json:"name"`
}

func create(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		if body, ok := read(c, locks); ok {
			suite := Suite{ParentID: body.ParentID, Name: body.Name}
			answer(c, locks, &suite, db.WithContext(c.Request.Context()).Create(&suite).Error)
		}
	}
}

func rename(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		if body, ok := read(c, locks); ok {
			var suite Suite
			err := gormplugin.Rename(db.WithContext(c.Request.Context()), &suite, c.Param("id"), body.Name)
			answer(c, locks, &suite, err)
		}
	}
}

func move(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		if body, ok := read(c, locks); ok {
			var suite Suite
			err := gormplugin.Move(db.WithContext(c.Request.Context()), &suite, c.Param("id"), gormplugin.Below(body.ParentID))
			answer(c, locks, &suite, err)
		}
	}
}

func remove(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer(c, locks, nil, db.WithContext(c.Request.Context()).Delete(&Suite{}, "id = ?", c.Param("id")).Error)
	}
}

func removeCase(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer(c, locks, nil, db.WithContext(c.Request.Context()).Delete(&Case{}, "id = ?", c.Param("id")).Error)
	}
}

func read(c *gin.Context, locks *middleware.Locks) (body placement, ok bool) {
	if err := c.ShouldBindJSON(&body); err != nil {
		locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not the JSON that this route expects"))
		return body, false
	}
	return body, true
}

func answer(c *gin.Context, locks *middleware.Locks, suite *Suite, err error) {
	switch {
	case err != nil:
		locks.Fail(c, err)
	case suite == nil:
		c.Status(http.StatusNoContent)
	default:
		c.JSON(http.StatusOK, suite)
	}
}
