package readme

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

func newKeys(ctx context.Context, db *gorm.DB, user func(*gin.Context) string) (*idempotency.Keys, error) {
	keys, err := idempotency.New(db, idempotency.Config{Scope: user})
	if err != nil {
		return nil, err
	}
	return keys, keys.Migrate(ctx)
}

func routeOnce(r *gin.Engine, db *gorm.DB, keys *idempotency.Keys, locks *middleware.Locks, insert lockspec.Spec) {
	r.POST("/suites", keys.Handle, locks.Lock(insert), func(c *gin.Context) {
		var suite Suite
		if err := c.ShouldBindJSON(&suite); err != nil {
			locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "malformed body"))
			return
		}
		err := gormplugin.Transaction(c.Request.Context(), db, func(tx *gorm.DB) error {
			if err := tx.Create(&suite).Error; err != nil {
				return err
			}
			return idempotency.RecordJSON(tx, http.StatusCreated, suite)
		})
		if err != nil {
			locks.Fail(c, err)
			return
		}
		c.JSON(http.StatusCreated, suite)
	})
}

func consume(ctx context.Context, keys *idempotency.Keys, id string, body []byte) (suite int64, err error) {
	key := idempotency.Key{Scope: "imports: suites", ID: id, Payload: body}
	return idempotency.Once(ctx, keys, key, func(tx *gorm.DB) (int64, error) {
		suite := Suite{PlanID: 1, Name: string(body)}
		err := tx.Create(&suite).Error
		return suite.ID, err
	})
}
