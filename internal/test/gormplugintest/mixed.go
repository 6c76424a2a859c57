package gormplugintest

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// upload is in the tree of a user and a storage: Tree is made of both, and the database checks it.
type upload struct {
	ID      int64
	UserID  int64
	Storage string `gorm:"size:20"`
	Tree    string `pathlock:"tree" gorm:"size:40;not null;check:upload_tree,tree = concat(user_id, '/', storage)"`
	Parent  *int64 `pathlock:"parent"`
	Name    string `pathlock:"name" gorm:"size:100"`
	Path    string `pathlock:"path" gorm:"size:500"`
}

// BeforeCreate is a hook of GORM. A number and what follows the slash are told apart whatever that
// contains.
func (u *upload) BeforeCreate(*gorm.DB) error {
	u.Tree = fmt.Sprintf("%d/%s", u.UserID, u.Storage)
	return nil
}

// member is a leaf without a name: its UUID tells it from the others.
type member struct {
	ID     int64
	Upload int64  `pathlock:"parent"`
	UUID   string `pathlock:"name" gorm:"size:36"`
}

// checkMixed keeps trees of several columns, and leaves without names.
func checkMixed(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&upload{}), gormplugin.Leaf(&member{}, &upload{})})
	w.must(gormplugin.AutoMigrate(w.db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
	a, b := &upload{UserID: 1, Storage: "s3", Name: "a"}, &upload{UserID: 1, Storage: "disk", Name: "a"}
	w.must(w.db.Create([]*upload{a, b}).Error)
	below := &upload{UserID: 1, Storage: "s3", Parent: &a.ID, Name: "b"}
	w.must(w.db.Create(below).Error)
	w.fails(w.db.Create(&upload{UserID: 1, Storage: "s3", Name: "a"}).Error, gormplugin.ErrNameTaken)
	w.fails(gormplugin.Move(w.db, &upload{}, below.ID, gormplugin.Below(b.ID)), gormplugin.ErrMisplaced)
	w.fails(w.db.Create(&upload{UserID: 2, Storage: "s3", Parent: &a.ID, Name: "c"}).Error, gormplugin.ErrMisplaced)
	if err := w.db.Model(below).Update("user_id", 2).Error; err == nil {
		t.Error("a row has gone to another user's tree by one of its columns")
	}
	w.must(w.db.Create(&member{Upload: below.ID, UUID: "0b1e7f6c-1111-4222-8333-9a9b9c9d9e9f"}).Error)
	w.must(gormplugin.Rename(w.db, &upload{}, a.ID, "z"))
	w.must(w.db.Take(below, below.ID).Error)
	if at, err := gormplugin.Resolve(w.db, &upload{}, below.ID); err != nil || below.Path != "/z/b" || at.Tree.ID() != "1/s3" {
		t.Errorf("the row is %+v, at %v (%v)", below, at, err)
	}
	w.must(w.db.Delete(&upload{}, a.ID).Error)
	w.hits(w.db.Find(&[]upload{}), 1)
}
