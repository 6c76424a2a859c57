package pathlock_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

func TestErrorsSayWhoIsInTheWay(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	node := pathlock.ConflictError{Tree: tree(t, "plan"), Path: pathlock.MustParsePath("/a"), Mode: pathlock.ModeX}
	for _, tt := range []struct {
		what    string
		gate    bool
		blocker pathlock.Blocker
		says    string
	}{
		{"nothing is known", false, pathlock.Blocker{}, "X /a in test/plan: held by another owner"},
		{"a holder with a note", false, pathlock.Blocker{Note: "rename", Mode: pathlock.ModeS, Since: noon, Until: noon.Add(time.Minute)},
			`X /a in test/plan: held by "rename", which has S since 2026-01-02T12:00:00Z until 2026-01-02T12:01:00Z`},
		{"a waiter without a note", false, pathlock.Blocker{Owner: "ABCDEFGHIJ", Mode: pathlock.ModeX, Waiting: true, Since: noon},
			"X /a in test/plan: in the way: owner ABCDEF…, which waits for X since 2026-01-02T12:00:00Z"},
		{"a gate that another program took", true, pathlock.Blocker{Note: "nightly", Gate: true, Mode: pathlock.ModeX, Until: noon},
			`the gate of test/plan: held by "nightly", which has the gate until 2026-01-02T12:00:00Z`},
	} {
		e := node
		e.Gate, e.Blocker = tt.gate, tt.blocker
		if want := pathlock.ErrConflict.Error() + ": " + tt.says; e.Error() != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.what, e.Error(), want)
		}
		d := pathlock.DeadlockError{Tree: e.Tree, Path: e.Path, Mode: e.Mode, Gate: e.Gate, Blocker: e.Blocker}
		if !errors.Is(&d, pathlock.ErrDeadlock) || errors.Is(&d, pathlock.ErrConflict) || !strings.Contains(d.Error(), tt.says) {
			t.Errorf("%s: as a deadlock: %s", tt.what, d.Error())
		}
	}
	withCause := node
	withCause.Err = io.EOF
	if !errors.Is(&withCause, pathlock.ErrConflict) || !errors.Is(&withCause, io.EOF) || errors.Is(&node, io.EOF) {
		t.Error("a conflict matches ErrConflict, and its Err if there is one")
	}
}
