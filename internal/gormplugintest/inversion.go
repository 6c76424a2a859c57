package gormplugintest

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkInversion has a statement that holds a path wait for the database's only writer, which wants
// that path: the writer gives way, and does its work when it is run again.
func checkInversion(t *testing.T, d Database) {
	if !d.SoleWriter {
		return // others can write meanwhile
	}
	w := newWorld(t, d, settings{})
	a := w.build("/a")
	b := w.build("/b")
	written := make(chan error, 1)
	tries := 0
	err := gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
		// This is the writer from here on.
		if err := tx.Model(&Suite{}).Where("id = ?", b.ID).Update("name", "b2").Error; err != nil {
			return err
		}
		if tries++; tries == 1 {
			go func() { written <- w.db.Model(&Suite{}).Where("id = ?", a.ID).Update("name", "a2").Error }()
			for !strings.Contains(w.held(), "X /a") {
				runtime.Gosched()
			}
		}
		err := gormplugin.Rename(tx, &Suite{}, a.ID, "a3")
		if tries == 1 && !errors.Is(err, gormplugin.ErrRetry) {
			t.Errorf("the writer got %v, want %v", err, gormplugin.ErrRetry)
		}
		return err
	})
	if err := errors.Join(err, <-written); err != nil {
		t.Error(err)
	}
	w.has("/a3", "/b2")
}
