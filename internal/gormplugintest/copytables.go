package gormplugintest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// Tables as [gormplugin.AutoMigrate] makes them: with a unique index over the rows at the top.
type (
	// Twig is a tree with a foreign key on itself.
	Twig struct {
		ID       int64
		TreeID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Parent   *Twig  `gorm:"foreignKey:ParentID"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
	}
	// Stem is a tree whose keys are texts, and whose parents cannot be NULL.
	Stem struct {
		ID       string `gorm:"primaryKey;size:100"`
		TreeID   int64  `pathlock:"tree"`
		ParentID string `pathlock:"parent" gorm:"size:100;not null"`
		Name     string `pathlock:"name" gorm:"size:100"`
		Path     string `pathlock:"path" gorm:"size:500"`
	}
	// Bud is a tree with short names.
	Bud struct {
		ID       int64
		TreeID   int64  `pathlock:"tree"`
		ParentID *int64 `pathlock:"parent"`
		Name     string `pathlock:"name" gorm:"size:2"`
		Path     string `pathlock:"path" gorm:"size:100"`
	}
)

// checkCopyTables copies in tables as [gormplugin.AutoMigrate] makes them.
func checkCopyTables(t *testing.T, d Database) {
	db := open(t, d, settings{connections: 2}, new(trace))
	w := &world{T: t, db: db}
	w.must(db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Twig{}), gormplugin.Model(&Bud{}))))
	w.must(gormplugin.AutoMigrate(db))
	// Others have one writer, or lock more than the rows that they read.
	if db.Name() == "postgres" {
		t.Run("by two at once", func(t *testing.T) { checkTwo(&world{T: t, db: db}) })
	}
	t.Run("short names", func(t *testing.T) { checkShortNames(&world{T: t, db: db}) })
}

// checkTwo copies one row twice at the same time: neither waits for the other.
func checkTwo(w *world) {
	tree := rand.Int64N(1 << 50)
	top := &Twig{TreeID: tree, Name: "src"}
	w.must(w.db.Create(top).Error)
	w.must(w.db.Create(&Twig{ParentID: &top.ID, Name: "a"}).Error)
	dst := &Twig{TreeID: tree, Name: "dst"}
	w.must(w.db.Create(dst).Error)
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	var open []*gorm.DB
	for _, name := range []string{"one", "two"} {
		tx := w.db.WithContext(ctx).Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
		w.must(tx.Error)
		defer tx.Rollback()
		_, err := gormplugin.Copy(tx, &Twig{}, top.ID, gormplugin.Below(dst.ID), gormplugin.CopyAs(name))
		w.must(err)
		open = append(open, tx)
	}
	for _, tx := range open {
		w.must(tx.Commit().Error)
	}
	var paths []string
	w.must(w.db.Model(&Twig{}).Where("tree_id = ?", tree).Order("path").Pluck("path", &paths).Error)
	if got := strings.Join(paths, " "); got != "/dst /dst/one /dst/one/a /dst/two /dst/two/a /src /src/a" {
		w.Errorf("the tree is %s", got)
	}
}

// checkShortNames copies as many rows as names of two characters have room for, and one more.
func checkShortNames(w *world) {
	tree := rand.Int64N(1 << 50)
	top := &Bud{TreeID: tree, Name: "a"}
	w.must(w.db.Create(top).Error)
	count := func() (rows int64) {
		w.must(w.db.Model(&Bud{}).Where("tree_id = ?", tree).Count(&rows).Error)
		return rows
	}
	for i := range 8 {
		w.must(w.db.Create(&Bud{ParentID: &top.ID, Name: fmt.Sprint(i)}).Error)
	}
	rows, err := gormplugin.Copy(w.db, &Bud{}, top.ID, gormplugin.Top(), gormplugin.CopyAs("b"))
	w.must(err)
	if rows != 9 || count() != 18 {
		w.Errorf("%d rows were copied, and there are %d, want 9 and 18", rows, count())
	}
	w.must(w.db.Create(&Bud{ParentID: &top.ID, Name: "8"}).Error)
	_, err = gormplugin.Copy(w.db, &Bud{}, top.ID, gormplugin.Top(), gormplugin.CopyAs("c"))
	w.fails(err, gormplugin.ErrUnsupported)
	if count() != 19 {
		w.Errorf("there are %d rows, want 19", count())
	}
}
