package middleware_test

import (
	"context"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/middleware"
)

// detached makes a hold that outlives its process.
func (f *fixture) detached(tree pathlock.Tree, path string) pathlock.Token {
	f.Helper()
	lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: tree, Claims: claim(path), Lease: time.Hour, Note: "anna edits"})
	testerr.Must(f, err)
	token, err := lock.Detach(f.Context())
	testerr.Must(f, err)
	return token
}

// end releases the hold of a token, which it returns.
func (f *fixture) end(token pathlock.Token) pathlock.Token {
	f.Helper()
	testerr.None(f, f.locker.ReleaseToken(context.Background(), token))
	return token
}

// only checks that nothing but the paths is held in the plan, and nothing in the other trees.
func (f *fixture) only(what string, paths ...string) {
	f.Helper()
	testerr.None(f, f.locker.Shutdown(context.Background()))
	held := f.held()
	slices.Sort(held)
	if !slices.Equal(slices.Compact(held), paths) {
		f.Errorf("%s: held %v, want %v", what, held, paths)
	}
	trees, err := f.locker.Trees(context.Background())
	if err != nil || slices.ContainsFunc(trees, func(t pathlock.Tree) bool { return t != plan }) {
		f.Errorf("%s: held in %v, %v", what, trees, err)
	}
}

// token is the header of a request that carries a token.
func token(t pathlock.Token) []string { return []string{middleware.TokenHeader, string(t)} }
