package middleware

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// A hold is on paths, and what its holder means is nodes. So where a request that uses a hold moves
// a node in which the hold has something, the same is taken at the node's new path before the node
// is moved, and stays with the hold if it has been.

// lookTimeout bounds how long the end of a request looks for a node that it was to move.
const lookTimeout = 2 * time.Second

// claimsAhead returns what the request's hold has in the nodes of a tree that the request moves,
// where it will be.
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

// graft returns where a path at or below a node is once the node is elsewhere.
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

// follow leaves with the hold what was taken for it at the new path of a node, if the node has
// moved, and gives back what was left with it in the same way at the old one. Where that is not to
// be learnt, all of it stays: too much is held then, until the hold ends, and not too little.
func (v *visit) follow(ctx context.Context, locks *held) {
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
		_, stayed := locks.along.Detach() // what has been lost is no hold's any more
		if err == nil && stayed == nil && !v.sameKey(at.Path, move.Node.Path) {
			v.hold.lock.Vacate(ctx, move.Node.Path)
		}
		return
	}
}

// sameKey reports whether two paths are locked as one.
func (v *visit) sameKey(a, b pathlock.Path) bool {
	a, err := v.locker.Folded(a)
	if err != nil {
		return false
	}
	b, err = v.locker.Folded(b)
	return err == nil && a == b
}
