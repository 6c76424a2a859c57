package integration

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A leaf and a node of one name below one parent have one slot, and can both be there.
func TestALeafAndANodeOfOneNameHaveOneSlot(t *testing.T) {
	locker := pathlock.New(memstore.New(), pathlock.WithWait(pathlock.NoWait))
	db, _ := openFolders(t, locker)
	photos := &Folder{DriveID: "a", Name: "photos"}
	if err := db.Create(photos).Error; err != nil {
		t.Fatal(err)
	}
	tree, err := pathlock.NewTree("drive", "a")
	if err != nil {
		t.Fatal(err)
	}
	slot := pathlock.X(pathlock.MustParsePath("/photos/x"))
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{slot}})
	if err != nil {
		t.Fatal(err)
	}
	create := map[string]func() error{
		"folder": func() error { return db.Create(&Folder{DriveID: "a", ParentID: &photos.ID, Name: "x"}).Error },
		"note":   func() error { return db.Create(&Note{FolderID: photos.ID, Name: "x"}).Error },
	}
	for what, create := range create {
		if err := create(); !errors.Is(err, pathlock.ErrConflict) {
			t.Errorf("a new %s does not wait for the slot: %v", what, err)
		}
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, create := range create {
		if err := create(); err != nil {
			t.Errorf("a new %s is refused, though only the slot is shared: %v", what, err)
		}
	}
}
