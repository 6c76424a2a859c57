package memstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Two lockers ask for the same name below /dir1, and the second does not wait.
func ExampleNew() {
	ctx := context.Background()
	store := memstore.New()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	slot := pathlock.MustParsePath("/dir1/new")
	for _, user := range []string{"alice", "bob"} {
		_, err := pathlock.New(store).Acquire(ctx, pathlock.Request{
			Tree: tree, Claims: []pathlock.Claim{pathlock.X(slot)}, Wait: pathlock.NoWait, Note: "insert by " + user,
		})
		var conflict *pathlock.ConflictError
		if errors.As(err, &conflict) {
			fmt.Printf("%s: %s %s is held for %q\n", user, conflict.Mode, conflict.Path, conflict.Blocker.Note)
		} else {
			fmt.Printf("%s: granted, error %v\n", user, err)
		}
	}
	// Output:
	// alice: granted, error <nil>
	// bob: X /dir1/new is held for "insert by alice"
}
