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

// stepRecorder is an observer that writes down the plugin's steps: a line at the end of each.
type stepRecorder struct {
	pathlock.NopObserver
	lines []string
}

// Step implements [pathlock.Observer].
func (p *stepRecorder) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	return ctx, func(err error) {
		end := "ok"
		for _, known := range []error{gormplugin.ErrRetry, pathlock.ErrPathChanged} {
			if errors.Is(err, known) {
				end = known.Error()
			}
		}
		if s.Kind != pathlock.StepRelease {
			p.lines = append(p.lines, fmt.Sprintf("%s %d: %s", s.Kind, s.Attempt, end))
		}
	}
}

// checkSteps checks what observers learn of assertions, commits, rollbacks and further tries.
func checkSteps(t *testing.T, d Database) {
	seen := &stepRecorder{}
	w := newWorld(t, d, settings{observer: seen})
	a := w.build("/a")
	const asserted, committed, rolledBack = "assert 1: ok", "commit 1: ok", "rollback 1: ok"
	changed := pathlock.ErrPathChanged.Error()
	for _, c := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"a statement", func() error { return gormplugin.Rename(w.db, &Suite{}, a.ID, "b") }, []string{asserted, committed}},
		{"a transaction that its caller rolls back", func() error {
			return w.db.Transaction(func(tx *gorm.DB) error {
				return errors.Join(tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error, errStop)
			})
		}, []string{asserted, rolledBack}},
		{"an assertion that fails", func() error {
			return w.db.Transaction(func(tx *gorm.DB) error {
				w.must(gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET path = '/elsewhere' WHERE id = ?", a.ID).Error)
				return tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error
			})
		}, []string{"assert 1: " + changed, "assert 2: " + changed, rolledBack}},
		{"a transaction that the database gives up", func() error {
			w.trace.intercept(func(c call) error {
				if c.kind != "commit" || c.after {
					return nil
				}
				w.trace.intercept(nil)
				c.abort()
				return d.GivenUp
			})
			return gormplugin.Rename(w.db, &Suite{}, a.ID, "e")
		}, []string{asserted, "commit 1: " + gormplugin.ErrRetry.Error(), asserted, committed, "retry 2: ok"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d.GivenUp == nil && len(c.want) > 4 {
				t.Skip("the database's error is not known")
			}
			seen.lines = nil
			_ = c.do()
			if !slices.Equal(seen.lines, c.want) {
				t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(seen.lines, "\n\t"), strings.Join(c.want, "\n\t"))
			}
		})
	}
}
