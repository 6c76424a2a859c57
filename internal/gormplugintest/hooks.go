package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// Hooked is a row of the table of [Other] whose hooks call a function.
type Hooked struct {
	ID   int64
	Name string
	Do   func(tx *gorm.DB) error `gorm:"-"`
}

// TableName implements gorm's Tabler.
func (*Hooked) TableName() string { return "others" }

// AfterCreate is a hook of GORM's.
func (h *Hooked) AfterCreate(tx *gorm.DB) error { return h.Do(tx) }

// AfterUpdate is a hook of GORM's.
func (h *Hooked) AfterUpdate(tx *gorm.DB) error { return h.Do(tx) }

// AfterDelete is a hook of GORM's.
func (h *Hooked) AfterDelete(tx *gorm.DB) error { return h.Do(tx) }

// hookChecks are about operations on trees in the hooks of other rows. The DB that a hook gets
// stands for the statement that the hook belongs to, and for its transaction.
func hookChecks() []check {
	var checks []check
	for _, op := range []struct {
		name string
		do   func(tx *gorm.DB, a, b *Suite) error
		want []string
	}{
		{"a rename", func(tx *gorm.DB, a, _ *Suite) error { return gormplugin.Rename(tx, &Suite{}, a.ID, "c") }, []string{"/b", "/c", "/c/x"}},
		{"a move", func(tx *gorm.DB, a, b *Suite) error {
			return gormplugin.Move(tx, &Suite{}, a.ID, gormplugin.Below(b.ID))
		}, []string{"/b", "/b/a", "/b/a/x"}},
		{"a copy", func(tx *gorm.DB, a, b *Suite) error {
			_, err := gormplugin.Copy(tx, &Suite{}, a.ID, gormplugin.Below(b.ID))
			return err
		}, []string{"/a", "/a/x", "/b", "/b/a", "/b/a/x"}},
		{"a deletion", func(tx *gorm.DB, a, _ *Suite) error {
			rows, err := gormplugin.Delete(tx, &Suite{}, a.ID)
			if err == nil && rows != 2 {
				err = fmt.Errorf("%d rows were deleted, want 2", rows)
			}
			return err
		}, []string{"/b"}},
	} {
		checks = append(checks, check{op.name + " in a hook", func(w *world) { checkHook(w, op.do, op.want) }})
	}
	return checks
}

// checkHook does an operation in the hook of a creation, of an update and of a deletion. Each time
// the operation happens once, and so does the statement.
func checkHook(w *world, do func(tx *gorm.DB, a, b *Suite) error, want []string) {
	for _, statement := range []struct {
		name string
		run  func(h *Hooked) *gorm.DB
	}{
		{"create", func(h *Hooked) *gorm.DB { return w.db.Create(h) }},
		{"update", func(h *Hooked) *gorm.DB { return w.db.Model(h).Where("name = ?", h.Name).Update("name", "updated") }},
		{"delete", func(h *Hooked) *gorm.DB { return w.db.Where("name = ?", h.Name).Delete(h) }},
	} {
		w.root = w.newPlan()
		w.build("/a/x")
		a, b := w.build("/a"), w.build("/b")
		h := &Hooked{Name: "hooked", Do: func(*gorm.DB) error { return nil }}
		if statement.name != "create" {
			w.must(w.db.Create(h).Error)
		}
		var before, after int64
		w.must(w.db.Model(&Other{}).Count(&before).Error)
		calls := 0
		h.Do = func(tx *gorm.DB) error {
			calls++
			return do(tx, a, b)
		}
		w.hits(statement.run(h), 1)
		w.must(w.db.Model(&Other{}).Count(&after).Error)
		if added := map[string]int64{"create": 1, "delete": -1}[statement.name]; calls != 1 || after != before+added {
			w.Errorf("%s: the hook was called %d times, and there are %d rows after %d", statement.name, calls, after, before)
		}
		w.has(want...)
	}
}
