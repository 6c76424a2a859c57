package pathlock_test

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// stepPrinter is an observer that prints the steps which code around the locks reports.
type stepPrinter struct{ pathlock.NopObserver }

func (stepPrinter) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	fmt.Println(pathlock.OriginOf(ctx).Operation, "begins:", s.Kind, s.Attempt)
	return ctx, func(err error) { fmt.Println(s.Kind, "ends:", err) }
}

// Package middleware and package gormplugin report their work by Step. A program with a transaction
// manager of its own does the same, and every observer of the locker sees it.
func ExampleLocker_Step() {
	locker := pathlock.New(memstore.New(), pathlock.WithObserver(stepPrinter{}))
	ctx := pathlock.WithOrigin(context.Background(), pathlock.Origin{Operation: "archive"})

	commit := func(context.Context) error { return nil }
	work, done := locker.Step(ctx, pathlock.Step{Kind: pathlock.StepCommit})
	done(commit(work))

	// Output:
	// archive begins: commit 1
	// commit ends: <nil>
}
