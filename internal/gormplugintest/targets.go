package gormplugintest

import (
	"context"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkTargets changes rows between a statement's first look at what it hits and its transaction,
// in which it looks again. It writes the rows that it has locked, as far as they still match.
func checkTargets(t *testing.T, d Database) {
	rename := func(query *gorm.DB) error { return query.Update("name", "x").Error }
	toD := func(w *world) func(*gorm.DB) error {
		parent := w.build("/d").ID
		return func(query *gorm.DB) error { return query.Update("parent_id", parent).Error }
	}
	remove := func(query *gorm.DB) error { return query.Delete(&Suite{}).Error }
	for _, c := range []struct {
		name string
		// meanwhile is what the note of /a/b, which is "mine" at first, and of /c/b, which is not,
		// become.
		meanwhile [2]string
		write     func(w *world) func(query *gorm.DB) error
		tree      []string
	}{
		{"a further row matches: rename", [2]string{"mine", "mine"}, func(*world) func(*gorm.DB) error { return rename }, []string{"/a", "/a/x", "/c", "/c/b", "/d", "/x"}},
		{"a further row matches: move", [2]string{"mine", "mine"}, toD, []string{"/a", "/c", "/c/b", "/d", "/d/b", "/d/e"}},
		{"a further row matches: delete", [2]string{"mine", "mine"}, func(*world) func(*gorm.DB) error { return remove }, []string{"/a", "/c", "/c/b", "/d"}},
		{"another row matches: rename", [2]string{"", "mine"}, func(*world) func(*gorm.DB) error { return rename }, []string{"/a", "/a/b", "/c", "/c/b", "/d", "/x"}},
		{"another row matches: delete", [2]string{"", "mine"}, func(*world) func(*gorm.DB) error { return remove }, []string{"/a", "/a/b", "/c", "/c/b", "/d"}},
		{"no other row matches: move", [2]string{"", ""}, toD, []string{"/a", "/a/b", "/c", "/c/b", "/d", "/d/e"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			meanwhile := new(afterSurvey)
			w := newWorld(t, d, settings{observer: meanwhile})
			note := func(s *Suite, text string) {
				w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET note = ? WHERE id = ?", text, s.ID).Error)
			}
			ours, theirs, also := w.build("/a/b"), w.build("/c/b"), w.build("/e")
			w.build("/d")
			note(ours, "mine")
			write := c.write(w)
			meanwhile.do = func() {
				note(ours, c.meanwhile[0])
				note(theirs, c.meanwhile[1])
			}
			// Unscoped, GORM adds no condition of its own, and the statement's are not in
			// parentheses.
			w.must(write(w.db.Unscoped().Model(&Suite{}).Where("plan_id = ? AND note = 'mine'", w.root.PlanID).Or("id = ?", also.ID)))
			if meanwhile.do != nil {
				t.Error("nothing happened in between")
			}
			w.has(c.tree...)
		})
	}
}

// afterSurvey is an observer that has something happen once, when the next locks are granted.
type afterSurvey struct {
	pathlock.NopObserver
	do func()
}

// Granted implements [pathlock.Observer].
func (o *afterSurvey) Granted(context.Context, pathlock.Event) {
	if do := o.do; do != nil {
		o.do = nil
		do()
	}
}
