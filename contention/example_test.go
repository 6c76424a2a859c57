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

	history := recorder.History()
	for _, e := range history.Episodes {
		fmt.Println(e.Tree, e.Path, "waits:", e.Waits, "in vain:", e.TimedOut, "because of:", e.Blockers[0].Origin.Route)
	}
	for _, r := range history.ByRoute(contention.MostWaits) {
		fmt.Println(r.Name, "waited:", r.Waits, "made others wait:", r.CausedWaits)
	}
	for _, p := range history.ByPlace(contention.Longest) {
		fmt.Println(p.Tree, p.Path, "episodes:", p.Episodes)
	}
	// Output:
	// locked <nil>
	// testplan/7 /dir1 waits: 1 in vain: 1 because of: POST /import
	// PATCH /suites/:id waited: 1 made others wait: 0
	// POST /import waited: 0 made others wait: 1
	// testplan/7 /dir1 episodes: 1
}

// A page that shows the history asks for it again when it has changed.
func ExampleRecorder_Version() {
	recorder := contention.New(memstore.New(), contention.Config{Threshold: time.Second, Capacity: 1000})
	defer recorder.Close()

	shown := recorder.Version()
	fmt.Println("ask again:", recorder.Version() != shown)
	// Output: ask again: false
}

// A table whose columns can be sorted by.
func ExampleHistory_Sort() {
	recorder := contention.New(memstore.New(), contention.Config{})
	defer recorder.Close()

	history := recorder.History()
	for _, order := range contention.Orders() {
		history.Sort(order)
		fmt.Println(order, len(history.Episodes))
	}
	// Output:
	// last 0
	// longest 0
	// waiter_seconds 0
	// waits 0
}
