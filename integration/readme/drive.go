package readme

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
)

// File is a file or a folder in the drive of a user on a storage.
type File struct {
	ID       int64
	UIDSid   string `json:"-" gorm:"size:73" pathlock:"tree"`
	ParentID *int64 `json:"-" pathlock:"parent"`
	Alias    string `gorm:"size:16"`
	Name     string `pathlock:"name"`
	Dir      string `pathlock:"path,form:parent:*/*/"`
	IsDir    bool
}

type drive struct{ create, move, remove gin.HandlerFunc }

func start(r *gin.Engine, store pathlock.Store, h drive) (install func(*gorm.DB) error) {
	locker := pathlock.New(store)
	plugin := gormplugin.New(locker, gormplugin.Model(&File{}))
	drives := pathlock.ResolverFunc(func(ctx context.Context, sid string) (pathlock.Location, error) {
		tree := fmt.Sprint(middleware.GinContext(ctx).GetInt64("uid"), ":", sid)
		return pathlock.TreeResolver("files").Resolve(ctx, tree)
	})
	locks := middleware.New(locker, plugin.ResolverBy(&File{}, "alias"), middleware.Config{
		Resolvers: map[string]pathlock.Resolver{"drive": drives},
	})
	alias, dir, sid := lockspec.Param("alias"), lockspec.JSON("dir").Path(), lockspec.JSON("sid").Kind("drive")
	r.POST("/files", locks.Lock(lockspec.Insert(dir.OrTop(sid), lockspec.JSON("name"))), h.create)
	r.PATCH("/files/:alias/dir", locks.Lock(lockspec.Move(alias, dir)), h.move)
	r.DELETE("/files/:alias", locks.Lock(lockspec.Delete(alias)), h.remove)
	return func(db *gorm.DB) error { return errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)) }
}

func folder(db *gorm.DB, tree, dir string) (gormplugin.Place, error) {
	path, err := pathlock.ParsePath("/" + strings.Trim(dir, "/"))
	if err != nil || path.IsRoot() {
		return gormplugin.Top(), err
	}
	var row File
	err = gormplugin.At(db, &File{}, tree, path).Where("is_dir = ?", true).Take(&row).Error
	return gormplugin.Below(row.ID), err
}
