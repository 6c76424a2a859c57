package memstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A grant and its release with nobody in the way. What it costs does not depend on how many locks
// there are: alone in the store, and beside ten thousand that others hold in the same directory.
func BenchmarkAcquireRelease(b *testing.B) {
	tree, err := pathlock.NewTree("test", "plan")
	if err != nil {
		b.Fatal(err)
	}
	for _, depth := range []int{3, 15} {
		var path strings.Builder
		for i := range depth {
			fmt.Fprintf(&path, "/dir%d", i+1)
		}
		req := pathlock.Acquisition{
			Tree: tree, Owner: "owner", Grant: "grant",
			Claims: pathlock.Normalize(pathlock.X(node(path.String()))),
			Lease:  time.Hour, Note: "rename",
		}
		for _, others := range []int{0, 10_000} {
			b.Run(fmt.Sprintf("depth=%d/others=%d", depth, others), func(b *testing.B) {
				store := memstore.New()
				for i := range others {
					other := req
					other.Owner = pathlock.Owner(fmt.Sprint("other", i))
					sibling, err := node(path.String()).Parent().Child(fmt.Sprint("sibling", i))
					if err != nil {
						b.Fatal(err)
					}
					other.Claims = pathlock.Normalize(pathlock.X(sibling))
					if _, err := store.Acquire(b.Context(), other); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := store.Acquire(b.Context(), req); err != nil {
						b.Fatal(err)
					}
					if err := store.Release(b.Context(), tree, req.Owner, req.Grant); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
