package gormplugintest

import (
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// limitChecks bring a descendant's path to the 500 characters that the column has room for, and one
// beyond.
func limitChecks() []check {
	// Below the row lie a name of 255 characters and one of 200.
	const middle, last, room = 255, 200, 500
	const below = 1 + middle + 1 + last
	var checks []check
	for _, op := range []struct {
		name string
		// length is that of the name, in characters, with which the longest path just fits.
		length int
		do     func(w *world, source *Suite, name string) error
	}{
		{"rename", room - below - len("/"), func(w *world, source *Suite, name string) error {
			return gormplugin.Rename(w.db, &Suite{}, source.ID, name)
		}},
		{"move", room - below - len("/") - len("/s"), func(w *world, source *Suite, name string) error {
			return gormplugin.Move(w.db, &Suite{}, source.ID, w.suite(w.root, name).ID)
		}},
		{"copy", room - below - len("/"), func(w *world, source *Suite, name string) error {
			_, err := gormplugin.Copy(w.db, &Suite{}, source.ID, w.root.ID, gormplugin.CopyAs(name))
			return err
		}},
	} {
		for _, letter := range []string{"x", "é", "测", "😀"} {
			checks = append(checks, check{op.name + " in the characters " + letter, func(w *world) {
				of := func(n int) string { return strings.Repeat(letter, n) }
				source := w.suite(w.root, "s")
				longest := w.suite(w.suite(source, of(middle)), of(last))
				before := w.path(longest)
				w.fails(op.do(w, source, of(op.length+1)), gormplugin.ErrPathTooLong)
				if got := w.path(longest); got != before || w.path(source) != "/s" {
					w.Errorf("the longest path has become %q", got)
				}
				w.must(op.do(w, source, of(op.length)))
				var paths []string
				w.must(w.db.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Pluck("path", &paths).Error)
				lengths := 0
				for _, path := range paths {
					lengths = max(lengths, utf8.RuneCountInString(path))
				}
				if lengths != room {
					w.Errorf("the longest path has %d characters, want %d", lengths, room)
				}
			}})
		}
	}
	return checks
}
