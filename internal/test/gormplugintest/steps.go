package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// stepRecorder is an observer that writes down the plugin's steps at their ends, and the operations
// that it takes locks for.
type stepRecorder struct {
	pathlock.NopObserver
	lines, operations []string
}

// Granted implements [pathlock.Observer].
func (p *stepRecorder) Granted(_ context.Context, e pathlock.Event) {
	if !e.Reentrant {
		p.operations = append(p.operations, e.Origin.Operation)
	}
}

// Step implements [pathlock.Observer].
func (p *stepRecorder) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	return ctx, func(err error) {
		if s.Kind != pathlock.StepRelease {
			p.lines = append(p.lines, fmt.Sprintf("%s %d: %t", s.Kind, s.Attempt, err == nil))
		}
	}
}

// checkSteps checks what observers learn of assertions, commits, rollbacks and further tries.
func checkSteps(t *testing.T, d Database) {
	seen := &stepRecorder{}
	w := newWorld(t, d, settings{observer: seen})
	a := w.build("/a")
	saw := func(want string) {
		t.Helper()
		if got := strings.Join(seen.lines, ", "); got != want {
			t.Errorf("seen %s, want %s", got, want)
		}
		seen.lines = nil
	}
	seen.lines = nil
	w.fails(w.db.Transaction(func(tx *gorm.DB) error {
		return errors.Join(tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error, errStop)
	}), errStop)
	saw("assert 1: true, rollback 1: true")
	w.fails(w.db.Transaction(func(tx *gorm.DB) error {
		w.must(gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET path = '/elsewhere' WHERE id = ?", a.ID).Error)
		return tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error
	}), pathlock.ErrPathChanged)
	saw("assert 1: false, assert 2: false, rollback 1: true")
	if d.GivenUp == nil {
		return
	}
	w.trace.intercept(func(c call) error {
		if c.kind != "commit" || c.after {
			return nil
		}
		w.trace.intercept(nil)
		c.abort()
		return d.GivenUp
	})
	w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "e"))
	saw("assert 1: true, commit 1: false, assert 1: true, commit 1: true, retry 2: true")
}

// checkOperations checks that locks which the plugin takes by itself name its operation. Work of a
// larger operation keeps that operation's name.
func checkOperations(t *testing.T, d Database) {
	seen := &stepRecorder{}
	w := newWorld(t, d, settings{observer: seen})
	a, b := w.build("/a"), w.build("/b")
	w.must(errors.Join(
		w.db.Model(a).Update("name", "c").Error, w.db.Model(a).Update("parent_id", b.ID).Error,
		w.db.Model(a).Updates(map[string]any{"parent_id": w.root.ID, "name": "d"}).Error,
	))
	_, copied := gormplugin.Copy(w.db, &Suite{}, a.ID, gormplugin.Below(b.ID))
	w.must(errors.Join(copied, w.db.Delete(a).Error))
	w.suiteIn(w.db.WithContext(pathlock.WithOrigin(t.Context(), pathlock.Origin{Operation: "import"})), "h")
	if got := fmt.Sprint(slices.Compact(seen.operations)); got != "[insert rename move update copy delete import]" {
		t.Errorf("the locks are of %s", got)
	}
}
