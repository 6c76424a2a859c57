package gormplugintest

import (
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

func hostileChecks() []check {
	return []check{
		{"names that cannot be one", func(w *world) {
			a := w.build("/a")
			for _, name := range []string{"", ".", "..", "x/y", "/", "x\x00y", "x\ny", "\xff", strings.Repeat("x", 10_000)} {
				w.fails(w.db.Create(&Suite{ParentID: &w.root.ID, Name: name}).Error, pathlock.ErrInvalidPath)
				w.fails(w.db.Model(&Suite{ID: a.ID}).Update("name", name).Error, pathlock.ErrInvalidPath)
			}
			w.fails(w.db.Create(&Suite{ParentID: &w.root.ID, Name: strings.Repeat("x", 256)}).Error, gormplugin.ErrPathTooLong)
			w.has("/a")
		}},
		{"names that are odd and fine", func(w *world) {
			for _, name := range []string{`back\slash`, "'quoted'", `"quoted"`, "`quoted`", "%", "_", "{}", "}{", "?", "@name", "%2F", "a ", " a", "A", "\u00c5", "A\u030a", "a", "😀", "--", ";DROP"} {
				s := w.suite(w.root, name)
				w.suite(s, "below")
				w.must(w.db.Model(s).Update("name", name+"+").Error)
				w.must(w.db.Model(s).Update("name", name).Error)
				if got := w.path(s); got != "/"+name {
					w.Errorf("%q has the path %q", name, got)
				}
			}
		}},
	}
}
