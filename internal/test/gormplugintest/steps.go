package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// stepRecorder is an observer that writes down the plugin's steps at their ends.
type stepRecorder struct {
	pathlock.NopObserver
	lines []string
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
