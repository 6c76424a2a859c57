package gormplugintest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

var errLost = errors.New("the connection is lost")

// checkLosses loses the connection at every call of the driver that a write makes, and at the
// COMMIT before and after the server has done it.
func checkLosses(t *testing.T, d Database) {
	for _, change := range changes() {
		for _, way := range ways()[:2] {
			t.Run(change.name+" "+way.name, func(t *testing.T) {
				w := newWorld(t, d, settings{})
				for _, p := range change.rows {
					w.build(p)
				}
				statement := change.statement(w)
				before := w.state()
				for n := 1; ; n++ {
					var calls atomic.Int64
					var lost call
					w.trace.reset()
					w.trace.intercept(func(c call) error {
						// A database in the process has no connection to lose, but its COMMIT can
						// fail.
						if d.SoleWriter && c.kind != "commit" || calls.Add(1) != int64(n) {
							return nil
						}
						lost = c
						switch {
						case !d.SoleWriter:
							c.drop()
						case !c.after:
							c.abort()
						}
						return errLost
					})
					err := way.run(w.db, statement)
					w.trace.intercept(nil)
					if calls.Load() < int64(n) {
						w.must(err)
						if w.state() == before {
							t.Error("nothing written")
						}
						return
					}
					w.settled(err)
					committed := lost.kind == "commit" && lost.after
					if changed := w.state() != before; changed != committed {
						t.Fatalf("lost at the %s: changed is %v (%v)", lost.kind, changed, err)
					}
					if !errors.Is(err, errLost) {
						t.Fatalf("lost at the %s: got the error %v", lost.kind, err)
					}
					if unknown := errors.Is(err, gormplugin.ErrOutcomeUnknown); unknown != (lost.kind == "commit" && !d.SoleWriter) {
						t.Errorf("lost at the %s: got the error %v", lost.kind, err)
					}
					if errors.Is(err, gormplugin.ErrRetry) {
						t.Errorf("lost at the %s: a retry could do it twice: %v", lost.kind, err)
					}
					if committed {
						return
					}
				}
			})
		}
	}
}
