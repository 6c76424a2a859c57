package readme

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// planted returns a database with the suite /a, the suite /a/b below it, and the locker of its
// plugin.
func planted(t *testing.T) (db *gorm.DB, locker *pathlock.Locker, a, b Suite) {
	t.Helper()
	db, locker = open(t), pathlock.New(memstore.New())
	if err := errors.Join(db.Use(gormplugin.New(locker, options()...)), gormplugin.AutoMigrate(db)); err != nil {
		t.Fatal(err)
	}
	a = Suite{PlanID: 1, Name: "a"}
	if err := db.Create(&a).Error; err != nil {
		t.Fatal(err)
	}
	b = Suite{PlanID: 1, ParentID: &a.ID, Name: "b"}
	if err := db.Create(&b).Error; err != nil {
		t.Fatal(err)
	}
	return db, locker, a, b
}

// Raw SQL passes only if the program allows it, and runs under the path lock on the subtree.
func TestRawSQLRewritesASubtreeUnderItsLock(t *testing.T) {
	db, locker, a, b := planted(t)
	const statement = "UPDATE suites SET name = ?, path = ? WHERE id = ?"
	var refused *gormplugin.RawWriteError
	if err := db.Exec(statement, "c", "/a/c", b.ID).Error; !errors.As(err, &refused) {
		t.Errorf("raw SQL without a lock: %v, want a RawWriteError", err)
	}
	plan, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a/b"))}})
	if err != nil {
		t.Fatal(err)
	}
	if err := rewrite(t.Context(), db, a.ID, statement, "c", "/a/c", b.ID); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("a rewrite of what others hold: %v, want ErrConflict", err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := rewrite(t.Context(), db, a.ID, statement, "c", "/a/c", b.ID); err != nil {
		t.Fatal(err)
	}
	if err := db.Take(&b, b.ID).Error; err != nil || b.Path != "/a/c" {
		t.Errorf("the suite is at %q, %v", b.Path, err)
	}
}
