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
	ParentID int64 `json:"parent_id" binding:"required"`
	Name     string
}

func create(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		var body placement
		if err := c.ShouldBindJSON(&body); err != nil {
			locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not the JSON that this route expects"))
			return
		}
		suite := Suite{ParentID: &body.ParentID, Name: body.Name}
		answer(c, locks, &suite, db.WithContext(c.Request.Context()).Create(&suite).Error)
	}
}

func rename(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		var body struct{ Name string }
		if err := c.ShouldBindJSON(&body); err != nil {
			locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not the JSON that this route expects"))
			return
		}
		ctx := c.Request.Context()
		var suite Suite
		err := gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
			if err := tx.Take(&suite, "id = ?", c.Param("id")).Error; err != nil {
				return err
			}
			return tx.Model(&suite).Update("name", body.Name).Error
		})
		if err != nil {
			locks.Fail(c, err)
			return
		}
		c.JSON(http.StatusOK, suite)
	}
}

func move(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		var body placement
		if err := c.ShouldBindJSON(&body); err != nil {
			locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not the JSON that this route expects"))
			return
		}
		var suite Suite
		err := gormplugin.Transaction(c.Request.Context(), db, func(tx *gorm.DB) error {
			if err := tx.Take(&suite, "id = ?", c.Param("id")).Error; err != nil {
				return err
			}
			return tx.Model(&suite).Update("parent_id", body.ParentID).Error
		})
		answer(c, locks, &suite, err)
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
