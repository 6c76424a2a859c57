// Package tags is the tags of a back end, and what hangs below them, as programs on gin and GORM
// have them that know a parent by the path alone.
package tags

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/integration/internal/rest"
)

// Tag is a tag, or a resource where it has a type. Its path is "a/b/1|x/": the segments from the
// top, its own included.
type Tag struct {
	ID        int    `json:"id" gorm:"primaryKey"`
	Type      int8   `json:"type" gorm:"not null;default:0"`
	Code      string `json:"code" gorm:"size:50"`
	CodePath  string `json:"codePath" gorm:"size:700"`
	IsDeleted int8   `json:"-" gorm:"not null;default:0"`
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
}

// Routes serves the tags of a database.
func Routes(ctx context.Context, db *gorm.DB) (*gin.Engine, error) {
	if err := db.WithContext(ctx).AutoMigrate(&Tag{}); err != nil {
		return nil, err
	}
	h := handlers{db.Where("is_deleted = 0").Session(&gorm.Session{})}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/tag", h.list)
	r.POST("/tag", rest.Change(h.db, h.answer, create))
	r.PUT("/tag/:id", rest.Change(h.db, h.answer, rename))
	r.PUT("/tag/:id/parent", rest.Change(h.db, h.answer, move))
	r.DELETE("/tag", rest.Change(h.db, h.answer, remove))
	return r, nil
}

func (h handlers) list(c *gin.Context) {
	var all []Tag
	h.answer(c, &all, h.db.WithContext(c.Request.Context()).Order("code_path").Find(&all).Error)
}

func create(db *gorm.DB, t *Tag, in form) (err error) {
	t.Type, t.Code = in.Type, in.Code
	if t.CodePath, err = below(db, in.ParentID, t); err != nil {
		return err
	}
	return db.Create(t).Error
}

func rename(db *gorm.DB, t *Tag, in form) error {
	from, parent := t.CodePath, strings.TrimSuffix(t.CodePath, t.segment()+"/")
	err := db.Model(t).Update("code", in.Code).Error
	return errors.Join(err, rewrite(db, from, parent+t.segment()+"/"))
}

func move(db *gorm.DB, t *Tag, in form) error {
	path, err := below(db, in.ParentID, t)
	if err != nil {
		return err
	}
	return rewrite(db, t.CodePath, path)
}

func remove(db *gorm.DB, _ *Tag, in form) error {
	var all []Tag
	err := db.Find(&all, "id IN ?", in.IDs).Error
	for _, t := range all {
		err = errors.Join(err, db.Model(&Tag{}).Where("code_path LIKE ?", t.CodePath+"%").Updates(Tag{IsDeleted: 1}).Error)
	}
	return err
}

// below returns the path of a tag below a parent, if no other has it.
func below(db *gorm.DB, parentID int, t *Tag) (string, error) {
	var parent Tag
	if err := db.First(&parent, "id = ?", parentID).Error; err != nil && parentID != 0 {
		return "", err
	}
	path := parent.CodePath + t.segment() + "/"
	if err := db.First(&Tag{}, "code_path = ?", path).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		return "", errors.Join(errors.New("there is a tag with this path"), err)
	}
	return path, nil
}

// rewrite changes what the paths of a tag, and of all that is below it, begin with.
func rewrite(db *gorm.DB, from, to string) error {
	return db.Model(&Tag{}).Where("code_path LIKE ?", from+"%").Update("code_path", gorm.Expr("REPLACE(code_path, ?, ?)", from, to)).Error
}

func (h handlers) answer(c *gin.Context, data any, err error) {
	if err != nil {
		c.JSON(http.StatusInternalServerError, gin.H{"code": 500, "msg": err.Error()})
		return
	}
	c.JSON(http.StatusOK, gin.H{"code": 200, "data": data})
}
