package pathlock_test

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// errArchived is a sentinel of a program's own, which the middleware answers as it does a name that
// is taken.
var errArchived = pathlock.FailureNameTaken.New("the plan is archived")

// An error states what has failed, however it is wrapped.
func ExampleFailureOf() {
	fmt.Println(pathlock.FailureOf(fmt.Errorf("rename: %w", errArchived)))
	fmt.Println(pathlock.FailureOf(&pathlock.ConflictError{}))
	fmt.Println(pathlock.FailureOf(context.Canceled) == "")
	// Output:
	// name-taken
	// locked
	// true
}

// Where nodes are is for the program to say. The resolver of package gormplugin reads its tables.
func ExampleResolverFunc() {
	suites := map[string]string{"17": "/api/login"}
	resolver := pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
		path, ok := suites[id]
		if !ok {
			return pathlock.Location{}, fmt.Errorf("%w: suite %s", pathlock.ErrNotFound, id)
		}
		plan, err := pathlock.NewTree("testplan", "plan-001")
		return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath(path)}, err
	})

	at, err := resolver.Resolve(context.Background(), "17")
	fmt.Println(at.Tree, at.Path, err)
	_, err = resolver.Resolve(context.Background(), "18")
	fmt.Println(pathlock.FailureOf(err), err)
	// Output:
	// testplan/plan-001 /api/login <nil>
	// not-found pathlock: not found: suite 18
}

// failures counts the answers of each kind.
type failures struct {
	pathlock.NopObserver
	counted map[pathlock.Failure]int
}

// Answered implements [pathlock.Observer].
func (f failures) Answered(_ context.Context, failure pathlock.Failure) { f.counted[failure]++ }

// A program that answers its clients without package middleware tells the observers, so that the
// metrics count its answers too.
func ExampleLocker_Answered() {
	seen := failures{counted: make(map[pathlock.Failure]int)}
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(seen))

	locker.Answered(context.Background(), pathlock.FailureLocked)
	fmt.Println(seen.counted)
	// Output: map[locked:1]
}
