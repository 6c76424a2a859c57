// Package rest has what the handlers of small back ends on gin and GORM have in common.
package rest

import (
	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Change returns a handler that does an operation to the row whose id the route has, or to a new
// one, with what the client sends as JSON. It answers with the row, or with the error.
func Change[Row, Form any](db *gorm.DB, answer func(*gin.Context, any, error), operation func(*gorm.DB, *Row, Form) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		var in Form
		var row Row
		db := db.WithContext(c.Request.Context())
		err := c.ShouldBindJSON(&in)
		if id := c.Param("id"); err == nil && id != "" {
			err = db.First(&row, clause.Eq{Column: clause.PrimaryColumn, Value: id}).Error
		}
		if err == nil {
			err = operation(db, &row, in)
		}
		answer(c, &row, err)
	}
}
