package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// stepRecorder is an observer that writes down the plugin's steps: a line at the end of each,
// indented below the further try that it belongs to.
type stepRecorder struct {
	pathlock.NopObserver
	mu    sync.Mutex
	lines []string
}

// withinRetry is the context key of the steps of a further try.
type withinRetry struct{}

// Step implements [pathlock.Observer].
func (p *stepRecorder) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	indent := ""
	if ctx.Value(withinRetry{}) != nil {
		indent = "  "
	}
	if s.Kind == pathlock.StepRetry {
		ctx = context.WithValue(ctx, withinRetry{}, true)
	}
	return ctx, func(err error) {
		if s.Kind == pathlock.StepRelease {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lines = append(p.lines, fmt.Sprintf("%s%s %d: %s", indent, s.Kind, s.Attempt, stepsEnd(err)))
	}
}

// stepsEnd says how a step ended.
func stepsEnd(err error) string {
	for _, known := range []error{gormplugin.ErrOutcomeUnknown, gormplugin.ErrRetry, pathlock.ErrPathChanged, errChanged} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprint(err)
}

// errChanged is why a caller rolls back.
var errChanged = errors.New("the caller has changed its mind")

// checkSteps checks what observers learn of assertions, commits, rollbacks and further tries.
func checkSteps(t *testing.T, d Database) {
	seen := &stepRecorder{}
	w := newWorld(t, d, settings{observer: seen})
	sees := func(t *testing.T, want ...string) {
		t.Helper()
		seen.mu.Lock()
		defer seen.mu.Unlock()
		if !slices.Equal(seen.lines, want) {
			t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(seen.lines, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
	begin := func() {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.lines = nil
	}
	const asserted, committed = "assert 1: <nil>", "commit 1: <nil>"
	a := w.build("/a")
	t.Run("a statement", func(t *testing.T) {
		begin()
		w.must(gormplugin.Rename(w.db, &Suite{}, a.ID, "b"))
		sees(t, asserted, committed)
	})
	t.Run("a transaction that its caller rolls back", func(t *testing.T) {
		begin()
		w.fails(w.db.Transaction(func(tx *gorm.DB) error {
			w.must(tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error)
			return errChanged
		}), errChanged)
		sees(t, asserted, "rollback 1: <nil>")
	})
	t.Run("an assertion that fails", func(t *testing.T) {
		begin()
		w.fails(w.db.Transaction(func(tx *gorm.DB) error {
			w.must(gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET path = '/elsewhere' WHERE id = ?", a.ID).Error)
			return tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error
		}), pathlock.ErrPathChanged)
		failed := pathlock.ErrPathChanged.Error()
		sees(t, "assert 1: "+failed, "assert 2: "+failed, "rollback 1: <nil>")
	})
	if d.GivenUp != nil {
		t.Run("a transaction that the database gives up", func(t *testing.T) {
			for what, write := range map[string]func() error{
				"statement": func() error { return w.db.Model(&Suite{ID: a.ID}).Update("name", "d").Error },
				"operation": func() error { return gormplugin.Rename(w.db, &Suite{}, a.ID, "e") },
				"transaction": func() error {
					return gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
						return tx.Model(&Suite{ID: a.ID}).Update("name", "f").Error
					})
				},
			} {
				begin()
				w.trace.intercept(func(c call) error {
					if c.kind != "commit" || c.after {
						return nil
					}
					w.trace.intercept(nil)
					c.abort()
					return d.GivenUp
				})
				if err := write(); err != nil {
					t.Errorf("%s: %v", what, err)
				}
				sees(t, asserted, "commit 1: "+gormplugin.ErrRetry.Error(), "  "+asserted, "  "+committed, "retry 2: <nil>")
			}
		})
	}
}
