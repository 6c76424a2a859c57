package contention_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// An import keeps a rename waiting. Minutes later, an operator asks what that was.
func Example() {
	ctx := context.Background()
	store := memstore.New()
	recorder := contention.New(store, contention.Config{})
	defer recorder.Close()
	locker := pathlock.New(store, pathlock.WithObserver(recorder))

	tree, _ := pathlock.NewTree("testplan", "7")
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}}
	importing, err := locker.Acquire(pathlock.WithOrigin(ctx, pathlock.Origin{Route: "POST /import"}), request)
	if err != nil {
		fmt.Println(err)
		return
	}
	request.Wait = 100 * time.Millisecond
	_, refused := locker.Acquire(pathlock.WithOrigin(ctx, pathlock.Origin{Route: "PATCH /suites/:id"}), request)
	fmt.Println(pathlock.FailureOf(refused), importing.Release(ctx))

	for _, w := range recorder.History().Waits {
		fmt.Println(w.Origin.Route, w.Outcome, "at", w.Tree, w.Path, "because of", w.Blocker.Origin.Route)
	}
	// Output:
	// locked <nil>
	// PATCH /suites/:id timed-out at testplan/7 /dir1 because of POST /import
}
