package topology

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// TestScriptsForgotten: servers forget scripts, and what comes by a message or after a failover
// does not depend on them.
func TestScriptsForgotten(t *testing.T) {
	forEach(t, func(t *testing.T, d *deployment) {
		ours, theirs, tree := d.store(t), d.store(t), newTree(t)
		forget := func() { d.everywhere("SCRIPT", "FLUSH") }
		held := ask(tree, x("/a"))
		forget()
		first := take(t, ours, held)
		forget()
		renew(t, ours, held, false)
		forget()
		w := queue(t, theirs, ask(tree, x("/a")))
		forget()
		release(t, ours, held)
		rises(t, first, w.granted(patience))
		forget()
		if err := ours.Release(t.Context(), tree, held.Owner, held.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("second release: %v, want ErrNotHeld", err)
		}
		forget()
		holders(t, theirs, tree, 1)
		release(t, theirs, w.req)
	})
}
