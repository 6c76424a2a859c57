package gormplugintest

import (
	"slices"
	"strings"
	"testing"
)

// checkAsserted reads what the driver was given to run: every statement that changes a guarded
// table lies within a transaction, and after a read under row locks. Where the database has no row
// locks, the read comes after a write that keeps all others out.
func checkAsserted(t *testing.T, d Database) {
	for _, change := range changes() {
		for _, way := range ways() {
			t.Run(change.name+" "+way.name, func(t *testing.T) {
				w := newWorld(t, d, settings{})
				for _, p := range change.rows {
					w.build(p)
				}
				statement := change.statement(w)
				w.trace.reset()
				w.must(way.run(w.db, statement))
				ran := w.trace.ran()
				open, sole, asserted, changed := false, false, false, false
				for i, s := range ran {
					first, _, _ := strings.Cut(s, " ")
					switch {
					case s == "begin":
						open, sole, asserted = true, false, false
					case s == "commit":
						if !open || !asserted || !changed {
							t.Errorf("commits what was not asserted (%d):\n%s", i, strings.Join(ran, "\n"))
						}
						open = false
					case strings.HasSuffix(s, "WHERE 1 = 0"):
						sole = true
					case first == "SELECT" || first == "(SELECT":
						locks := slices.ContainsFunc([]string{"FOR UPDATE", "FOR SHARE", "LOCK IN SHARE MODE"}, func(l string) bool { return strings.Contains(s, l) })
						asserted = asserted || open && (locks || d.SoleWriter && sole)
					case first == "INSERT" || first == "UPDATE" || first == "DELETE":
						if !open || !asserted {
							t.Errorf("writes what was not asserted (%d):\n%s", i, strings.Join(ran, "\n"))
						}
						changed = true
					}
				}
			})
		}
	}
}
