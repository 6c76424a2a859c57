package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// pedometer is an observer that writes down the middleware's steps, a line at the end of each.
type pedometer struct {
	pathlock.NopObserver
	lines []string
}

// stepKey is the context key of the step that a context belongs to.
type stepKey struct{}

func (p *pedometer) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	return context.WithValue(ctx, stepKey{}, s.Kind), func(err error) {
		if s.Kind != pathlock.StepRelease {
			p.lines = append(p.lines, fmt.Sprintf("%s %d: %v", s.Kind, s.Attempt, err))
		}
	}
}

func TestObserversSeeTheStepsOfARequest(t *testing.T) {
	const resolved = "resolve 1: <nil>"
	broken := errors.New("broken")
	for _, tt := range []struct {
		what    string
		moves   int
		id      string
		handler gin.HandlerFunc
		want    []string
	}{
		{what: "nothing in the way", want: []string{resolved, resolved, "handler 1: <nil>"}},
		{what: "the node moves", moves: 1,
			want: []string{resolved, resolved, "resolve 2: <nil>", "retry 2: <nil>", "handler 1: <nil>"}},
		{what: "the node moves twice", moves: 2,
			want: []string{resolved, resolved, "resolve 2: <nil>", "retry 2: " + pathlock.ErrPathChanged.Error(),
				"resolve 3: <nil>", "retry 3: <nil>", "handler 1: <nil>"}},
		{what: "there is no such node", id: "99", want: []string{"resolve 1: lockspec: param id: pathlock: not found: suite 99"}},
		{what: "the handler notes errors", handler: func(c *gin.Context) { _ = c.Error(broken) },
			want: []string{resolved, resolved, "handler 1: broken"}},
		{what: "the handler panics", handler: func(*gin.Context) { panic("in the handler") },
			want: []string{resolved, resolved, "handler 1: middleware: a panic"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			seen := &pedometer{}
			f := newFixture(t, memstore.New(), middleware.Config{})
			f.locker = pathlock.New(memstore.New(), pathlock.WithObserver(seen))
			left := tt.moves
			f.nodes.after = func(id string) {
				if left > 0 {
					f.nodes.move(id, fmt.Sprintf("/somewhere%d", left))
					left--
				}
			}
			var within any
			engine := gin.New()
			engine.Use(func(c *gin.Context) {
				defer func() { _ = recover() }()
				c.Next()
			})
			locks := middleware.New(f.locker, f.nodes, middleware.Config{})
			engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) {
				within = c.Request.Context().Value(stepKey{})
				if tt.handler != nil {
					tt.handler(c)
				}
			})
			f.engine = engine
			id := "3"
			if tt.id != "" {
				id = tt.id
			}
			f.send("DELETE", "/suites/"+id, "")
			if !slices.Equal(seen.lines, tt.want) {
				t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(seen.lines, "\n\t"), strings.Join(tt.want, "\n\t"))
			}
			if served := slices.ContainsFunc(tt.want, func(s string) bool { return strings.HasPrefix(s, "handler") }); served && within != pathlock.StepHandler {
				t.Errorf("the handler runs under the context of the step %v", within)
			}
		})
	}
}
