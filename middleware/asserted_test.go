package middleware_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Where the writes are asserted, a node that moved at the moment of the lock is for the assertion
// to find: it takes what is missing, as the plugin does, or refuses, and the answers are the usual
// ones.
func TestAssertedRoutesLookOnceAndAnswerWhatTheAssertionSays(t *testing.T) {
	moved := []string{"X /dir1/dir2", "X /other/dir2"}
	for _, tt := range []struct {
		what   string
		moves  bool
		others string // what somebody else holds
		assert func(f *fixture, c *gin.Context) error
		status int
		kind   string
	}{
		{"nothing moved", false, "", nothing, http.StatusNoContent, ""},
		{"the missing lock is free", true, "", takeMissing(moved), http.StatusNoContent, ""},
		{"others have the missing lock", true, "/other", takeMissing(nil), http.StatusLocked, "locked"},
		{"the plan is out of date", true, "", refuse, http.StatusConflict, "path-changed"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newAssertedFixture(t, memstore.New(), middleware.Config{})
			resolved := 0
			f.nodes.after = func(string) {
				if resolved++; tt.moves {
					f.nodes.move("3", "/other/dir2")
				}
			}
			locks := middleware.New(f.locker, nil, middleware.Config{})
			f.handler = func(c *gin.Context) {
				if err := tt.assert(f, c); err != nil {
					locks.Fail(c, fmt.Errorf("update: %w", err))
					return
				}
				c.Status(http.StatusNoContent)
			}
			if tt.others != "" {
				lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(tt.others))}})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = lock.Release(t.Context()) }()
			}
			w := f.send("DELETE", "/suites/3", "")
			if w.Code != tt.status || resolved != 1 {
				t.Errorf("answer %d after %d looks, want %d after one: %s", w.Code, resolved, tt.status, w.Body)
			}
			if tt.kind != "" {
				if kind, _ := f.problem(w)["type"].(string); !strings.HasSuffix(kind, tt.kind) {
					t.Errorf("type %q, want one that ends in %q", kind, tt.kind)
				}
			}
		})
	}
}

func nothing(*fixture, *gin.Context) error { return nil }

func refuse(*fixture, *gin.Context) error {
	return fmt.Errorf("%w: suites 3: planned on %q, now %q", pathlock.ErrPathChanged, "/dir1/dir2", "/other/dir2")
}

// takeMissing locks the node where it is now, under the locks of the request, which are then the
// wanted ones.
func takeMissing(want []string) func(*fixture, *gin.Context) error {
	return func(f *fixture, c *gin.Context) error {
		ctx := c.Request.Context()
		lock, err := f.locker.Acquire(ctx, pathlock.Request{
			Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/other/dir2"))}, Wait: pathlock.NoWait,
		})
		if err != nil {
			return err
		}
		if got := f.held(); !slices.Equal(got, want) {
			f.Errorf("held %v, want %v", got, want)
		}
		return lock.Release(ctx)
	}
}

// Whoever is waited for may well have moved the node: then there is a second look, and the handler
// begins with the right locks.
func TestAssertedRoutesLookAgainWhereTheyWaited(t *testing.T) {
	store := waiting{memstore.New(), make(chan struct{}, 1)}
	f := newAssertedFixture(t, store, middleware.Config{Wait: time.Minute})
	lock, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}})
	if err != nil {
		t.Fatal(err)
	}
	resolved := 0
	f.nodes.after = func(string) { resolved++ }
	f.handler = func(c *gin.Context) {
		if got, want := f.held(), []string{"X /other/dir2"}; !slices.Equal(got, want) {
			t.Errorf("held %v, want %v", got, want)
		}
		c.Status(http.StatusNoContent)
	}
	done := make(chan int)
	go func() { done <- f.send("DELETE", "/suites/3", "").Code }()
	<-store.queued
	f.nodes.move("3", "/other/dir2")
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := <-done; status != http.StatusNoContent || resolved != 2 {
		t.Errorf("answer %d after %d looks, want 2: before and after the wait. The second lock is asked for under the first, and had at once", status, resolved)
	}
	f.nothingLeft()
}
