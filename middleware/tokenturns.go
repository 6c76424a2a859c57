package middleware

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/bridge"
	"github.com/pathlock-go/pathlock/lockspec"
)

// Requests with one token are one owner, whom no lock in the hold's tree keeps apart. But what a
// request that moves a node leaves with the hold depends on what the hold has, and on where the
// node is: a second one must not change either meanwhile. So each of them has the token's turn,
// from before it attaches the hold until the hold has followed.

// turnsNamespace is the namespace of the trees in which requests wait for their turns. One tree
// serves all tokens of a tree: stores keep the fences of trees.
const turnsNamespace = "lock-tokens"

// movesInHold reports whether the request moves a node in the tree of its token.
func (v *visit) movesInHold() bool {
	return slices.ContainsFunc(v.moves, func(m lockspec.Moved) bool { return m.Node.Tree == v.carried.tree })
}

// takeTurn waits until no other request with the token moves a node.
func (v *visit) takeTurn(ctx context.Context) error {
	tree, err := pathlock.NewTree(turnsNamespace, v.carried.tree.ID())
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(v.carried.token)) // whoever sees it must not be able to use the hold
	node, err := pathlock.Root().Child(hex.EncodeToString(hash[:10]))
	if err != nil {
		return err
	}
	v.turn, err = v.locker.Acquire(bridge.OwnScope{Context: ctx}, pathlock.Request{
		Tree: tree, Claims: []pathlock.Claim{pathlock.X(node)}, Wait: v.budget.remaining(), Lease: v.config.Lease,
		Note: "moves nodes under a lock token",
	})
	if errors.Is(err, pathlock.ErrConflict) {
		err = fmt.Errorf("%w: %w", Later(http.StatusLocked, string(pathlock.FailureLocked), "another request with the same lock token is moving a node"), err)
	}
	return err
}
