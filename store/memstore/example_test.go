package memstore_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Two owners ask a store for the same name below /dir1, and the second does not wait.
func ExampleStore() {
	ctx := context.Background()
	store := memstore.New()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	slot := pathlock.MustParsePath("/dir1/new")

	for _, owner := range []pathlock.Owner{"alice", "bob"} {
		_, err := store.Acquire(ctx, pathlock.Acquisition{
			Tree:   tree,
			Owner:  owner,
			Grant:  "1",
			Claims: pathlock.Normalize(pathlock.X(slot)),
			Lease:  30 * time.Second,
			Note:   "insert by " + string(owner),
		})
		var conflict *pathlock.ConflictError
		switch {
		case errors.As(err, &conflict):
			fmt.Printf("%s: %s %s is held for %q\n", owner, conflict.Mode, conflict.Path, conflict.Blocker.Note)
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Printf("%s: granted\n", owner)
		}
	}
	// Output:
	// alice: granted
	// bob: X /dir1/new is held for "insert by alice"
}
