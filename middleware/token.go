package middleware

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// TokenHeader is the header that [HeaderToken] reads.
const TokenHeader = "Lock-Token"

// HeaderToken returns the token in the request's header [TokenHeader], "" if there is none. It is
// the default of [Config.Token]. Several such headers are no token: the request is refused.
func HeaderToken(r *http.Request) pathlock.Token {
	return pathlock.Token(strings.Join(r.Header.Values(TokenHeader), ", "))
}

// NoToken returns "". As [Config.Token] it ignores the tokens of requests.
func NoToken(*http.Request) pathlock.Token { return "" }

// errNestedToken refuses a token that no outer spec uses, but an inner one does.
var errNestedToken = errors.New("middleware: an inner spec locks in the tree of the request's lock token, and an outer one does not: " +
	"put both into one by lockspec.All")

// tokenOf returns the token that a request carries, if any. The error is that of a malformed token.
func (m *Locks) tokenOf(c *gin.Context) (carried, error) {
	token := m.config.Token(c.Request)
	if token == "" {
		return carried{}, nil
	}
	tree, err := token.Tree()
	return carried{token, tree}, err
}

// holdOf returns the hold whose owner has the locks of a context, nil if there is none.
func (m *Locks) holdOf(ctx context.Context) *hold {
	h, ok := ctx.Value(holdKey{m.locker}).(*hold)
	if !ok || m.locker.Scope(ctx).Owner() != h.owner {
		return nil
	}
	return h
}

// attaches reports whether the hold of the request's token is to be attached: once one of the
// requests is in its tree. An outer spec may have attached it.
func (v *visit) attaches(ctx context.Context, requests []pathlock.Request) bool {
	if v.hold != nil || !v.carried.isFor(requests) {
		return false
	}
	outer := v.holdOf(ctx)
	return outer == nil || outer.token != v.carried.token
}

// attach attaches the hold of the request's token. It returns the context for the acquisitions,
// which then belong to the hold's owner.
func (v *visit) attach(ctx context.Context) (context.Context, error) {
	if v.isUnderLocks(v.c.Request.Context()) {
		return ctx, errNestedToken
	}
	lock, err := v.locker.Attach(ctx, v.carried.token, pathlock.WithoutRenewal())
	if err != nil {
		return ctx, err
	}
	v.hold = &hold{v.carried.token, v.locker.Scope(lock.Context()).Owner(), lock}
	return context.WithValue(lock.Context(), holdKey{v.locker}, v.hold), nil
}

// detach leaves the hold in the lock store at the end of the request.
func (v *visit) detach(ctx context.Context) {
	if v.hold != nil {
		_, _ = v.hold.lock.Detach(ctx) // fails only if the hold has ended: it asks no store
	}
}

// carried is the token that a request carries, and the tree of its hold.
type carried struct {
	token pathlock.Token
	tree  pathlock.Tree
}

// isFor reports whether the token's tree is among those of the requests.
func (t carried) isFor(requests []pathlock.Request) bool {
	return t.token != "" && slices.ContainsFunc(requests, func(r pathlock.Request) bool { return r.Tree == t.tree })
}

// hold is the hold of a request's token, while the request uses it.
type hold struct {
	token pathlock.Token
	owner pathlock.Owner
	lock  *pathlock.Lock
}

// holdKey is the context key of the hold that a request uses, by locker.
type holdKey struct{ locker *pathlock.Locker }

// A hold claims paths, but its holder means nodes. So if a request that uses a hold moves a node in
// which the hold has claims, it first takes the same claims at the node's new path. If the node has
// moved, they stay with the hold, beside those at the old path.

// lookTimeout bounds how long the end of a request looks for a node that it may have moved.
const lookTimeout = 2 * time.Second

// claimsAhead returns the claims of the request's hold in the nodes of a tree that the request
// moves, at their new paths.
func (v *visit) claimsAhead(tree pathlock.Tree) (claims []pathlock.Claim) {
	if v.hold == nil || v.carried.tree != tree {
		return nil
	}
	for _, move := range v.moves {
		from, err := v.locker.Folded(move.Node.Path)
		if err != nil || move.Node.Tree != tree {
			continue
		}
		for _, c := range v.hold.lock.Claims() {
			if c.Mode == pathlock.ModeIS || c.Mode == pathlock.ModeIX || !from.Contains(c.Path) {
				continue
			}
			if to, err := graft(c.Path, from, move.To); err == nil {
				claims = append(claims, pathlock.Claim{Path: to, Mode: c.Mode})
			}
		}
	}
	return claims
}

// graft returns the new path of p, which is at or below a node that moves from one path to another.
func graft(p, from, to pathlock.Path) (pathlock.Path, error) {
	depth := 0
	for name := range p.Names() {
		if depth++; depth <= from.Depth() {
			continue
		}
		var err error
		if to, err = to.Child(name); err != nil {
			return pathlock.Path{}, err
		}
	}
	return to, nil
}

// follow leaves the claims at a node's new path with the hold, unless the node is known to be where
// it was. In doubt, too much stays with the hold rather than too little.
func (v *visit) follow(ctx context.Context, locks *lockSet) {
	if locks.along == nil || !v.mayHaveMoved(ctx) {
		return
	}
	_, _ = locks.along.Detach(ctx) // fails if the lock has been lost
}

// mayHaveMoved reports whether a node of the request is not where it was when it was locked, or may
// not be. If a path or an alias names the node, its new place is unknown: that path or alias may
// have changed.
func (v *visit) mayHaveMoved(ctx context.Context) bool {
	if v.c.Request != v.request {
		return true // c is another request's, and resolvers may depend on it
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer stop()
	nodes := make([]lockspec.Node, len(v.moves))
	for i, move := range v.moves {
		nodes[i] = move.Node
	}
	for i, found := range v.resolve(withGinContext(ctx, v.c), nodes) {
		if found.Err != nil || found.Location != nodes[i].Location {
			return true
		}
	}
	return false
}
