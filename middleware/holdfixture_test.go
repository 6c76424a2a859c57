package middleware_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
)

// detached makes a hold that outlives its process.
func (f *fixture) detached(tree pathlock.Tree, path string) pathlock.Token {
	f.Helper()
	lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: tree, Claims: claim(path), Lease: time.Hour, Note: "anna edits"})
	if err != nil {
		f.Fatal(err)
	}
	token, err := lock.Detach(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return token
}

// only checks that nothing but the paths is held in the plan.
func (f *fixture) only(what string, paths ...string) {
	f.Helper()
	if err := f.locker.Shutdown(context.Background()); err != nil {
		f.Error(err)
	}
	held := f.held()
	slices.Sort(held)
	if !slices.Equal(slices.Compact(held), paths) {
		f.Errorf("%s: held %v, want %v", what, held, paths)
	}
}

// is checks the status of an answer, and what the type of a problem ends in.
func (f *fixture) is(what string, w *httptest.ResponseRecorder, status int, kind string) {
	f.Helper()
	if w.Code != status {
		f.Errorf("%s: answer %d, want %d: %s", what, w.Code, status, w.Body)
		return
	}
	if kind == "" {
		return
	}
	if got, _ := f.problem(w)["type"].(string); got != middleware.ProblemType+kind {
		f.Errorf("%s: type %q, want %q", what, got, kind)
	}
}

// token is the header of a request that carries a token.
func token(t pathlock.Token) []string { return []string{middleware.TokenHeader, string(t)} }

// released is a token whose hold has ended.
func (f *fixture) released(tree pathlock.Tree) pathlock.Token {
	f.Helper()
	token := f.detached(tree, "/ended")
	if err := f.locker.ReleaseToken(f.Context(), token); err != nil {
		f.Fatal(err)
	}
	return token
}
