package pathlock_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestServesKnowsWhoseHandlersRun(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	owner := l.Scope(lock.Context()).Owner()
	var ends []func(error)
	begin := func(ctx context.Context, kind pathlock.StepKind) {
		_, done := l.Step(ctx, pathlock.Step{Kind: kind})
		ends = append(ends, done)
	}
	begin(lock.Context(), pathlock.StepAssert)
	begin(t.Context(), pathlock.StepHandler) // of a request without locks
	if l.Serves(owner) {
		t.Error("served before the handler")
	}
	begin(lock.Context(), pathlock.StepHandler)
	begin(lock.Context(), pathlock.StepHandler) // of a nested route
	for _, end := range ends {
		if !l.Serves(owner) {
			t.Error("not served though a handler runs")
		}
		end(nil)
	}
	if l.Serves(owner) || l.Serves("somebody else") {
		t.Error("served after the last handler")
	}
	release(t, lock)
}

func TestScope_belongsToItsLocker(t *testing.T) {
	l, _ := newLocker()
	elsewhere, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	if scope := l.Scope(lock.Context()); scope != l.Scope(lock.Context()) || scope.Owner() == elsewhere.Scope(lock.Context()).Owner() {
		t.Error("a lock's context carries another scope, or a locker on another store takes it for its own")
	}
	release(t, lock)
}

// A lock and its release under one that covers it.
func BenchmarkReentry(b *testing.B) {
	for _, bench := range []struct {
		name        string
		held, asked int
	}{
		{"X 1 deep, asked 3 deep", 1, 3},
		{"X 1 deep, asked 15 deep", 1, 15},
		{"X 14 deep, asked 15 deep", 14, 15},
		{"the same node, 3 deep", 3, 3},
		{"the same node, 15 deep", 15, 15},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := pathlock.New(memstore.New())
			outer, err := l.Acquire(b.Context(), asking(b, bench.held))
			testerr.Must(b, err)
			ctx, req := outer.Context(), asking(b, bench.asked)
			b.ReportAllocs()
			for b.Loop() {
				lock, err := l.Acquire(ctx, req)
				testerr.Must(b, err)
				testerr.Must(b, lock.Release(ctx))
			}
			release(b, outer)
		})
	}
}

// asking is a request for a node that lies so deep.
func asking(b *testing.B, depth int) pathlock.Request {
	b.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	testerr.Must(b, err)
	return pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(strings.Repeat("/node", depth)))}}
}
