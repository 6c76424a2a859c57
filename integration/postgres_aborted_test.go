package integration

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"gorm.io/gorm"
)

// After a failed statement PostgreSQL runs nothing until the transaction is rolled back, or back to
// a savepoint: what is refused says which statement failed.
func TestPostgresAbortedTransaction(t *testing.T) {
	t.Parallel()
	db := guarded(t, postgresDatabase(t, byteOrder, nil))
	root := &gormplugintest.Suite{PlanID: 1}
	must(t, db.Create(root).Error)
	create := func(tx *gorm.DB, name string) error {
		return tx.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: name}).Error
	}
	wantTaken := func(err error) {
		t.Helper()
		if !errors.Is(err, gormplugin.ErrNameTaken) {
			t.Errorf("got the error %v, want %v", err, gormplugin.ErrNameTaken)
		}
	}
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := create(tx, "a"); err != nil {
			return err
		}
		wantTaken(tx.Transaction(func(inner *gorm.DB) error { return create(inner, "a") }))
		return create(tx, "b") // the savepoint undid the failure
	})
	if err != nil {
		t.Error(err)
	}
	wantTaken(db.Transaction(func(tx *gorm.DB) error {
		wantTaken(create(tx, "a"))
		wantTaken(create(tx, "c"))
		wantTaken(tx.First(&gormplugintest.Suite{}).Error)
		return nil // whoever goes on and commits has written nothing
	}))
	var rows int64
	if err := db.Model(&gormplugintest.Suite{}).Count(&rows).Error; err != nil || rows != 3 {
		t.Errorf("%d rows (%v), want the root, a and b", rows, err)
	}
}
