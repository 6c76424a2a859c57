package readme

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

func routes(db *gorm.DB, locker *pathlock.Locker, plugin *gormplugin.Plugin) *gin.Engine {
	locks := middleware.New(locker, plugin.Resolver(&Suite{}), middleware.Config{
		Resolvers: map[string]pathlock.Resolver{"case": plugin.Resolver(&Case{})},
	})
	id, parent, name := lockspec.Param("id"), lockspec.JSON("parent_id"), lockspec.JSON("name")

	r := gin.New()
	r.POST("/suites", locks.Lock(lockspec.Insert(parent, name)), create(db, locks))
	r.PATCH("/suites/:id", locks.Lock(lockspec.Rename(id, name)), rename(db, locks))
	r.POST("/suites/:id/move", locks.Lock(lockspec.Move(id, parent)), move(db, locks))
	r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(id)), remove(db, locks))
	r.DELETE("/cases/:id", locks.Lock(lockspec.Delete(id.Kind("case"))), removeCase(db, locks))
	return r
}

func guard(r *gin.Engine, db *gorm.DB, plugin *gormplugin.Plugin, table gin.HandlerFunc) error {
	err := db.Use(plugin)
	if err == nil {
		r.Use(table)
		err = gormplugin.Verify(db)
	}
	var found *gormplugin.SchemaError
	if errors.As(err, &found) && !errors.Is(err, gormplugin.ErrUnsafeSchema) || errors.Is(err, gormplugin.ErrUnsupportedDatabase) {
		slog.Warn("the tree", "error", err)
		return nil
	}
	return err
}

func authorizing(may func(c *gin.Context, plan string) bool) middleware.Config {
	return middleware.Config{
		// The middleware asks before it locks anything, and again for a node that has moved.
		Authorize: func(c *gin.Context, nodes []lockspec.Node) error {
			for _, node := range nodes {
				if !may(c, node.Tree.ID()) {
					return middleware.NewProblem(http.StatusForbidden, "forbidden", "this plan is not yours")
				}
			}
			return nil
		},
	}
}
