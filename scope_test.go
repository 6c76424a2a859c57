package pathlock_test

import (
	"context"
	"testing"

	"github.com/pathlock-go/pathlock"
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
