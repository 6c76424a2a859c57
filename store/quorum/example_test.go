package quorum_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// Three stores hold the locks together. They live in the process here; in earnest each is on a
// machine of its own, as by redisstore.Open.
func ExampleNew() {
	ctx := context.Background()
	store, err := quorum.New([]pathlock.Store{memstore.New(), memstore.New(), memstore.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	mutex := pathlock.New(store).Mutex("nightly export")
	lock, err := mutex.TryLock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	_, err = mutex.TryLock(ctx)
	fmt.Println("held by another:", errors.Is(err, pathlock.ErrConflict))
	// Output: held by another: true
}
