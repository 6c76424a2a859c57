package pathlock_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A lock and its release under one that covers it.
func BenchmarkReentry(b *testing.B) {
	for _, bench := range []struct {
		name        string
		held, asked int
	}{
		{"X 1 deep, asked 3 deep", 1, 3},
		{"X 1 deep, asked 15 deep", 1, 15},
		{"X 14 deep, asked 15 deep", 14, 15},
		{"the same node, 3 deep", 3, 3},
		{"the same node, 15 deep", 15, 15},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := pathlock.New(memstore.New())
			outer, err := l.Acquire(b.Context(), asking(b, bench.held))
			if err != nil {
				b.Fatal(err)
			}
			ctx, req := outer.Context(), asking(b, bench.asked)
			b.ReportAllocs()
			for b.Loop() {
				lock, err := l.Acquire(ctx, req)
				if err != nil {
					b.Fatal(err)
				}
				if err := lock.Release(ctx); err != nil {
					b.Fatal(err)
				}
			}
			release(b, outer)
		})
	}
}

// asking is a request for a node that lies so deep.
func asking(b *testing.B, depth int) pathlock.Request {
	b.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		b.Fatal(err)
	}
	return pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(strings.Repeat("/node", depth)))}}
}
