package readme

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

func routeTops(r *gin.Engine, locker *pathlock.Locker, plugin *gormplugin.Plugin, create gin.HandlerFunc) {
	locks := middleware.New(locker, plugin.Resolver(&Suite{}), middleware.Config{
		Resolvers: map[string]pathlock.Resolver{"plan": pathlock.ResolverFunc(topOfPlan)},
	})
	plan, parent, name := lockspec.Param("plan").Kind("plan"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	r.POST("/plans/:plan/suites", locks.Lock(lockspec.Insert(parent.OrTop(plan), name)), create)
}

// topOfPlan reads nothing: the id of a plan is that of its tree.
func topOfPlan(_ context.Context, id string) (pathlock.Location, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("%w: %q", pathlock.ErrInvalidID, id)
	}
	tree, err := pathlock.NewTree("testplan", strconv.FormatInt(number, 10))
	return pathlock.Location{Tree: tree, Path: pathlock.Root()}, err
}
