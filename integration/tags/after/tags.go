// Package tags is the tags of a back end, and what hangs below them, as programs on gin and GORM
// have them that know a parent by the path alone.
package tags

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/rest"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// Tag is a tag, or a resource where it has a type. Its path is "a/b/1|x/": the segments from the
// top, its own included.
type Tag struct {
	ID        int    `json:"id" gorm:"primaryKey"`
	Type      int8   `json:"type" gorm:"not null;default:0"`
	Code      string `json:"code" gorm:"size:50"`
	CodePath  string `json:"codePath" gorm:"size:700" pathlock:"path,form:*/*/"`
	IsDeleted int8   `json:"-" gorm:"not null;default:0" pathlock:"deleted"`
	ParentID  int    `json:"parentId" pathlock:"parent"`
	Segment   string `json:"-" gorm:"size:60" pathlock:"name"`
}

// TableName is the table's name.
func (Tag) TableName() string { return "t_tag_tree" }

// segment is what paths have of a tag, or of a resource.
func (t Tag) segment() string {
	if t.Type == 0 {
		return t.Code
	}
	return fmt.Sprintf("%d|%s", t.Type, t.Code)
}

// form is what clients send.
type form struct {
	ParentID int    `json:"parentId"`
	Type     int8   `json:"type"`
	Code     string `json:"code"`
	IDs      []int  `json:"ids"`
}

// handlers see no deleted rows.
type handlers struct {
	db *gorm.DB

	locks *middleware.Locks
}

// Routes serves the tags of a database until ctx ends, with locks in the store of a URL.
func Routes(ctx context.Context, db *gorm.DB, locks string) (*gin.Engine, error) {
	store, err := anystore.Open(ctx, locks, redisstore.Kind, sqlopen.Kind, zkstore.Kind, etcdstore.Kind)
	if err != nil {
		return nil, err
	}
	locker, end := pathlock.New(store), context.WithoutCancel(ctx)
	context.AfterFunc(ctx, func() { _ = errors.Join(locker.Shutdown(end), store.Close(end)) })
	plugin := gormplugin.New(locker, gormplugin.Model(&Tag{}, gormplugin.SingleTree("tags")))
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db.WithContext(ctx))); err != nil {
		return nil, err
	}
	h := handlers{db.Where("is_deleted = 0").Session(&gorm.Session{}), middleware.New(locker, plugin.Resolver(&Tag{}), middleware.Config{})}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/tag", h.list)
	r.POST("/tag", rest.Change(h.db, h.answer, create))
	r.PUT("/tag/:id", h.locks.Lock(lockspec.Rename(lockspec.Param("id"))), rest.Change(h.db, h.answer, rename))
	r.PUT("/tag/:id/parent", h.locks.Lock(lockspec.Move(lockspec.Param("id"), lockspec.JSON("parentId").OrTop())), rest.Change(h.db, h.answer, move))
	r.DELETE("/tag", h.locks.Lock(lockspec.Delete(lockspec.JSON("ids").Each())), rest.Change(h.db, h.answer, remove))
	return r, nil
}

// Fill adds the columns that the table lacks, and fills them from the paths. A row whose parent is
// missing gets the parent -1, so that fsck finds it.
func Fill(db *gorm.DB) error {
	return errors.Join(db.Exec(`ALTER TABLE t_tag_tree ADD COLUMN IF NOT EXISTS parent_id bigint, ADD COLUMN IF NOT EXISTS segment varchar(60)`).Error,
		db.Exec(`UPDATE t_tag_tree SET segment = CASE type WHEN 0 THEN code ELSE CONCAT(type, '|', code) END,
			parent_id = CASE REGEXP_REPLACE(code_path, '[^/]*/$', '') WHEN '' THEN 0 ELSE COALESCE((
				SELECT MIN(p.id) FROM (SELECT * FROM t_tag_tree WHERE is_deleted = 0) p
				WHERE p.code_path = REGEXP_REPLACE(t_tag_tree.code_path, '[^/]*/$', '')), -1) END`).Error)
}

// Recode gives tags that fsck has renamed their new codes.
func Recode(db *gorm.DB) error {
	return db.Exec(`UPDATE t_tag_tree SET code = REGEXP_REPLACE(segment, '^[0-9]+[|]', '')`).Error
}

func (h handlers) list(c *gin.Context) {
	var all []Tag
	h.answer(c, &all, h.db.WithContext(c.Request.Context()).Order("code_path").Find(&all).Error)
}

func create(db *gorm.DB, t *Tag, in form) error {
	t.ParentID, t.Type, t.Code = in.ParentID, in.Type, in.Code
	t.Segment = t.segment()
	return db.Create(t).Error
}

func rename(db *gorm.DB, t *Tag, in form) error {
	t.Code = in.Code
	t.Segment = t.segment()
	return db.Save(t).Error
}

func move(db *gorm.DB, t *Tag, in form) error {
	t.ParentID = in.ParentID
	return db.Save(t).Error
}

func remove(db *gorm.DB, _ *Tag, in form) error {
	return db.Model(&Tag{}).Where("id IN ?", in.IDs).Updates(Tag{IsDeleted: 1}).Error
}

func (h handlers) answer(c *gin.Context, data any, err error) {
	if err != nil {
		h.locks.Fail(c, err)
		return
	}
	c.JSON(http.StatusOK, gin.H{"code": 200, "data": data})
}
