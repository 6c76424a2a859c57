package readme

import (
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

func routeTops(r *gin.Engine, locker *pathlock.Locker, plugin *gormplugin.Plugin, create gin.HandlerFunc) {
	locks := middleware.New(locker, plugin.Resolver(&Suite{}), middleware.Config{
		Resolvers: map[string]pathlock.Resolver{"plan": pathlock.TreeResolver("testplan")},
	})
	plan, parent, name := lockspec.Param("plan").Kind("plan"), lockspec.JSON("parent_id"), lockspec.JSON("name")
	r.POST("/plans/:plan/suites", locks.Lock(lockspec.Insert(parent.OrTop(plan), name)), create)
}
