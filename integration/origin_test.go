package integration

import (
	"context"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// operations keeps the operation of each grant that the store was asked for.
type operations struct {
	pathlock.NopObserver
	granted []string
}

func (o *operations) Granted(_ context.Context, e pathlock.Event) {
	if !e.Reentrant {
		o.granted = append(o.granted, e.Origin.Operation)
	}
}

// What the plugin locks on its own says what it does. Work of a larger operation keeps the name of
// that.
func TestTheLocksOfAWriteNameItsOperation(t *testing.T) {
	seen := &operations{}
	db, _ := openFolders(t, pathlock.New(memstore.New(), pathlock.WithObserver(seen)))
	folder := func(name string, parent *int64) *Folder {
		f := &Folder{DriveID: "1", ParentID: parent, Name: name}
		if err := db.Create(f).Error; err != nil {
			t.Fatal(err)
		}
		return f
	}
	a := folder("a", nil)
	b := folder("b", nil)
	c := folder("c", new(a.ID))
	for _, tt := range []struct {
		want string
		do   func(context.Context) error
	}{
		{"insert", func(ctx context.Context) error {
			return db.WithContext(ctx).Create(&Folder{DriveID: "1", ParentID: new(b.ID), Name: "d"}).Error
		}},
		{"rename", func(ctx context.Context) error { return db.WithContext(ctx).Model(c).Update("name", "e").Error }},
		{"move", func(ctx context.Context) error { return db.WithContext(ctx).Model(c).Update("parent_id", b.ID).Error }},
		{"update", func(ctx context.Context) error {
			return db.WithContext(ctx).Model(c).Updates(map[string]any{"parent_id": a.ID, "name": "f"}).Error
		}},
		{"copy", func(ctx context.Context) error {
			_, err := gormplugin.Copy(db.WithContext(ctx), &Folder{}, c.ID, gormplugin.Below(b.ID))
			return err
		}},
		{"delete", func(ctx context.Context) error { return db.WithContext(ctx).Delete(c).Error }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			seen.granted = nil
			if err := tt.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(seen.granted) == 0 || slices.ContainsFunc(seen.granted, func(op string) bool { return op != tt.want }) {
				t.Errorf("the locks are of %q, want %q", seen.granted, tt.want)
			}
		})
	}
	seen.granted = nil
	ctx := pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "import"})
	if err := db.WithContext(ctx).Create(&Folder{DriveID: "1", Name: "h"}).Error; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen.granted, []string{"import"}) {
		t.Errorf("the locks of an import are of %q", seen.granted)
	}
}
