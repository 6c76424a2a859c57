package readme

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

func newLocker(redisURL string) (*pathlock.Locker, *redisstore.Store, error) {
	store, err := redisstore.Open(redisURL)
	if err != nil {
		return nil, nil, err
	}
	return pathlock.New(store, pathlock.WithWait(2*time.Second)), store, nil
}

func server(db *gorm.DB, locker *pathlock.Locker) (http.Handler, error) {
	plugin := gormplugin.New(locker,
		gormplugin.Model(&Suite{}, gormplugin.Namespace("testplan")),
		gormplugin.Leaf(&Case{}, &Suite{}),
	)
	if err := db.Use(plugin); err != nil {
		return nil, err
	}
	return routes(db, locker, plugin), nil
}

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

func rename(db *gorm.DB, locks *middleware.Locks) gin.HandlerFunc {
	return func(c *gin.Context) {
		var body struct{ Name string }
		if err := c.ShouldBindJSON(&body); err != nil {
			locks.Fail(c, middleware.NewProblem(http.StatusBadRequest, "invalid-request", "the body is not the JSON that this route expects"))
			return
		}
		// The context carries the locks. The plugin finds them there, asserts under row
		// locks that the path is still the one they were taken for, and rewrites
		// the descendants' paths in one statement.
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
		// Clients need not know who works on what.
		Redact: func(_ *gin.Context, p *middleware.Problem) {
			if p.Status == http.StatusLocked || p.Status == http.StatusConflict {
				p.Path, p.Holder, p.Detail = "", nil, "somebody else is at work there"
			}
		},
	}
}

func stop(ctx context.Context, srv *http.Server, locker *pathlock.Locker, store *redisstore.Store) error {
	// The order matters: requests end first, then the releases that they began, then the store.
	return errors.Join(srv.Shutdown(ctx), locker.Shutdown(ctx), store.Close(ctx))
}
