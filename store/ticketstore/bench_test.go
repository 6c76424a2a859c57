package ticketstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// What a grant and its release cost beside what others hold in the tree, without any server.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, others := range []int{0, 10, 100, 1000} {
		b.Run(fmt.Sprint("others=", others), func(b *testing.B) {
			store := ticketstore.New("drawer", newDrawer(), timeout)
			defer func() { _ = store.Close() }()
			tree, err := pathlock.NewTree("test", "plan")
			if err != nil {
				b.Fatal(err)
			}
			take := func(owner, path string) {
				if _, err := store.Acquire(context.Background(), pathlock.Acquisition{
					Tree: tree, Owner: pathlock.Owner(owner), Grant: "1", Lease: time.Hour,
					Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path))),
				}); err != nil {
					b.Fatal(err)
				}
			}
			for i := range others {
				take(fmt.Sprint("other ", i), fmt.Sprintf("/dir1/dir2/dir3/n%d", i))
			}
			b.ReportAllocs()
			for b.Loop() {
				take("owner", "/dir1/dir2/dir4/new")
				if err := store.Release(context.Background(), tree, "owner", "1"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	text := ticketstore.Encode(ticketstore.Ticket{
		Place: 7, Owner: "owner", Grant: "1", Lease: time.Hour, State: ticketstore.Granted, Fence: 7,
		Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/dir1/dir2/dir3/dir4"))),
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ticketstore.Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
