package zkstore_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// The program closes the store at its end: its session ends, and nothing of it is left.
func ExampleOpen() {
	ctx := context.Background()
	store, err := zkstore.Open("zk://" + os.Getenv("PATHLOCK_TEST_ZOOKEEPER") + "/examples/open?timeout=10s")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	locker := pathlock.New(store, pathlock.WithLease(30*time.Second))
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := locker.Acquire(ctx, pathlock.Request{
		Tree:   tree,
		Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/login/tests"))},
		Note:   "rename",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()

	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hold := range snapshot.Holders {
		fmt.Println(hold.Note, hold.Claims)
	}
	// Output: rename [IX / IX /login X /login/tests]
}

// What an operator sets: the ensemble, a root and a user of its own, and where the store may log.
func ExampleNew() {
	ctx := context.Background()
	store, err := zkstore.New(strings.Split(os.Getenv("PATHLOCK_TEST_ZOOKEEPER"), ","),
		zkstore.WithRoot("/examples/staging"),
		zkstore.WithDigest("pathlock", "a long password"),
		zkstore.WithTimeout(3*time.Second),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()

	fmt.Println("the ensemble serves:", store.Ping(ctx) == nil)
	trees, err := store.Trees(ctx)
	fmt.Println("trees with locks:", len(trees), err)
	// Output:
	// the ensemble serves: true
	// trees with locks: 0 <nil>
}

// A URL with a mistake is refused at once, without its password in the error.
func ExampleOpen_refused() {
	_, err := zkstore.Open("zk://pathlock:p@ss/word@zk1,zk2/locks")
	fmt.Println(err)
	// Output: pathlock/zkstore: not a valid URL: see Open for its form; in a user or password, write / ? # @ : , % as %2F %3F %23 %40 %3A %2C %25
}
