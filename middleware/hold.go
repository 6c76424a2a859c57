package middleware

import (
	"slices"

	"github.com/pathlock-go/pathlock"
)

// carried is the token that a request carries, and the tree that it is good for.
type carried struct {
	token pathlock.Token
	tree  pathlock.Tree
}

// isFor reports whether a token is good for a tree in which something is to be locked.
func (t carried) isFor(requests []pathlock.Request) bool {
	return t.token != "" && slices.ContainsFunc(requests, func(r pathlock.Request) bool { return r.Tree == t.tree })
}

// hold is what a request's token names, while the request uses it.
type hold struct {
	token pathlock.Token
	owner pathlock.Owner
	lock  *pathlock.Lock
}

// holdKey is the context key of the hold that a request of a locker's uses.
type holdKey struct{ locker *pathlock.Locker }
