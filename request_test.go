package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

func TestNamesThatFoldAlikeMeet(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /Plan/Login")
	_, err := l.Acquire(t.Context(), request(t, "X /plan/LOGIN/Sub"))
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok {
		t.Fatalf("error %v, want a ConflictError", err)
	}
	if got := conflict.Path.String(); got != "/plan/LOGIN" {
		t.Errorf("the error names %q, want the path as the caller wrote it", got)
	}
	if conflict.Mode != pathlock.ModeIX || conflict.Blocker.Mode != pathlock.ModeX || conflict.Blocker.Note != "X /Plan/Login" {
		t.Errorf("the error says %+v", conflict)
	}
	release(t, lock)

	exact, _ := newLocker(pathlock.WithFold(pathlock.FoldNothing))
	lock = acquire(t.Context(), t, exact, "X /a")
	free(t, exact, "X /A", true)
	release(t, lock)
}

func TestAFoldThatMakesNoNameIsRefused(t *testing.T) {
	for _, made := range []string{"", "a/b", ".."} {
		l, store := newLocker(pathlock.WithFold(func(string) string { return made }))
		_, err := l.Acquire(t.Context(), request(t, "X /n"))
		if !errors.Is(err, pathlock.ErrInvalidPath) || len(store.called()) != 0 {
			t.Errorf("a fold to %q: %v", made, err)
		}
	}
}

func TestRequestsThatMakeNoSenseAreRefusedBeforeTheStore(t *testing.T) {
	valid := request(t, "X /a")
	for _, tt := range []struct {
		what  string
		spoil func(*pathlock.Request)
		want  error
		says  string
	}{
		{"no tree", func(r *pathlock.Request) { r.Tree = pathlock.Tree{} }, pathlock.ErrInvalidTree, "no tree"},
		{"nothing asked for", func(r *pathlock.Request) { r.Claims = nil }, pathlock.ErrInvalidRequest, "neither claims nor the gate"},
		{"no mode", func(r *pathlock.Request) { r.Claims = []pathlock.Claim{{Path: pathlock.MustParsePath("/q")}} }, pathlock.ErrInvalidRequest, `"/q"`},
		{"unknown mode", func(r *pathlock.Request) { r.Claims = []pathlock.Claim{{Mode: 77}} }, pathlock.ErrInvalidRequest, "mode"},
		{"negative wait", func(r *pathlock.Request) { r.Wait = -2 }, pathlock.ErrInvalidRequest, "wait"},
		{"negative lease", func(r *pathlock.Request) { r.Lease = -time.Second }, pathlock.ErrInvalidRequest, "lease"},
		{"lease too short", func(r *pathlock.Request) { r.Lease = time.Millisecond }, pathlock.ErrInvalidRequest, "10ms"},
		{"note too long", func(r *pathlock.Request) { r.Note = strings.Repeat("x", pathlock.MaxNoteBytes+1) }, pathlock.ErrInvalidRequest, "513 bytes"},
		{"note not UTF-8", func(r *pathlock.Request) { r.Note = "\xff" }, pathlock.ErrInvalidRequest, "UTF-8"},
		{"too many claims", func(r *pathlock.Request) { r.Claims = make([]pathlock.Claim, pathlock.MaxNodes+1) }, pathlock.ErrInvalidRequest, "4097"},
		{"too many nodes", func(r *pathlock.Request) {
			r.Claims = nil
			for i := range 2049 {
				r.Claims = append(r.Claims, pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/p%d/c", i))))
			}
		}, pathlock.ErrInvalidRequest, "4099 nodes"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			l, store := newLocker()
			req := valid
			tt.spoil(&req)
			_, err := l.Acquire(t.Context(), req)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that matches %q and says %q", err, tt.want, tt.says)
			}
			if calls := store.called(); len(calls) != 0 {
				t.Errorf("the store was asked: %v", calls)
			}
		})
	}
}

func TestAcquireUnderAnEndedContextAsksNothing(t *testing.T) {
	l, store := newLocker()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("closing time")
	cancel(why)
	_, err := l.Acquire(ctx, request(t, "X /a"))
	if !errors.Is(err, why) || !errors.Is(err, context.Canceled) || len(store.called()) != 0 {
		t.Errorf("error %v, want the context's error, its cause, and no call", err)
	}
}

func TestDefaultsOfWaitAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker(pathlock.WithWait(3 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		begun := time.Now()
		req := request(t, "X /a")
		req.Wait = 0
		_, err := l.Acquire(t.Context(), req)
		conflict, ok := errors.AsType[*pathlock.ConflictError](err)
		if !ok || time.Since(begun) != 3*time.Second || conflict.Waited != 3*time.Second {
			t.Errorf("waited %v: %v", time.Since(begun), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		begun = time.Now()
		_, err = l.Acquire(ctx, req)
		if !errors.Is(err, pathlock.ErrConflict) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("under a deadline, waited %v: %v", time.Since(begun), err)
		}
		release(t, lock)
	})
}

func TestTheLongestWaitAndLeaseAreForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker(pathlock.WithLease(math.MaxInt64), pathlock.WithWait(math.MaxInt64))
		lock := acquire(t.Context(), t, l, "X /a")
		time.AfterFunc(time.Hour, func() { release(t, lock) })
		req := request(t, "X /a")
		req.Wait, req.Lease = 0, math.MaxInt64
		next, err := l.Acquire(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if left := time.Until(next.Until()); left != pathlock.Forever {
			t.Errorf("the lease lasts %v, want %v", left, pathlock.Forever)
		}
		release(t, next)
	})
}

// A caller may use its slice of claims again once Acquire has returned.
func TestALockKeepsNoClaimsOfItsCallers(t *testing.T) {
	j := &journal{}
	l, _ := newLocker(pathlock.WithObserver(j))
	req := request(t, "X /a, X /b")
	outer, err := l.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := l.Acquire(outer.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Claims[0], req.Claims[1] = pathlock.S(pathlock.MustParsePath("/z")), pathlock.S(pathlock.MustParsePath("/z"))
	release(t, inner)
	free(t, l, "X /a", false)
	release(t, outer)
	for _, want := range []string{"released X /a, X /b", "released X /a, X /b (re-entrant)"} {
		if !slices.Contains(j.events, want) {
			t.Errorf("not among %q: %q", j.events, want)
		}
	}
}
