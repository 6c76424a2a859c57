package anystore_test

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// The lock store is a setting of the program. A password of any characters stays out of the URL,
// and out of what is shown of the store.
func ExampleOpen() {
	ctx := context.Background()
	store, err := anystore.Open(ctx, "redis://app@127.0.0.1:6379/0", redisstore.Kind, anystore.WithPassword("p@ss/w:rd"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	locker := pathlock.New(store)
	fmt.Printf("%T on %v\n", locker, store)
	// Output: *pathlock.Locker on redis://127.0.0.1:6379/0
}

// A lock store of the program's own has a URL as any other.
func ExampleWithScheme() {
	ctx := context.Background()
	own := anystore.WithScheme("own", func(_ context.Context, url string) (pathlock.Store, error) {
		fmt.Println("opening", url)
		return memstore.New(), nil
	})
	store, err := anystore.Open(ctx, "own://host/locks", own)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	fmt.Println(store.Scheme(), store)
	// Output:
	// opening own://host/locks
	// own own://host/locks
}

// A program whose lock store fails its Ping says why, to people who may not see addresses.
func ExampleTrouble() {
	ctx := context.Background()
	store, err := anystore.Open(ctx, "redis://127.0.0.1:1/0", redisstore.Kind)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	if err := store.Ping(ctx); err != nil {
		fmt.Println("the lock store", anystore.Trouble(err))
	}
	// Output: the lock store does not answer
}
