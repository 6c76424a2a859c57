package middleware

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// A hold is on paths, but its holder means nodes. So a request that uses a hold, and moves a node
// in which the hold has claims, first takes the same claims at the node's new path. They stay with
// the hold if the node has moved, beside those at the old path.

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

// follow leaves with the hold what was taken for it at a node's new path, if the node has moved, or
// if follow cannot learn where it is: too much, but not too little.
func (v *visit) follow(ctx context.Context, locks *lockSet) {
	if locks.along == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer stop()
	for _, move := range v.moves {
		at, err := v.resolvers[move.Node.Kind].Resolve(ctx, move.Node.ID)
		if errors.Is(err, pathlock.ErrNotFound) || err == nil && at == move.Node.Location {
			continue
		}
		_, _ = locks.along.Detach(ctx) // fails if the lock has been lost
		return
	}
}
