package pathlock_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// deep returns a path of that many names.
func deep(t testing.TB, names int) pathlock.Path {
	t.Helper()
	var s strings.Builder
	for i := range names {
		fmt.Fprintf(&s, "/dir%d", i+1)
	}
	p, err := pathlock.ParsePath(s.String())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asking returns a request for X on nodes of one tree.
func asking(t testing.TB, nodes ...pathlock.Path) pathlock.Request {
	t.Helper()
	req := pathlock.Request{Tree: tree(t, "plan"), Note: "rename"}
	for _, p := range nodes {
		req.Claims = append(req.Claims, pathlock.X(p))
	}
	return req
}

// A lock and its release, with nobody in the way, on the memory store.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, bench := range []struct {
		name string
		req  pathlock.Request
	}{
		{"depth=3", asking(b, deep(b, 3))},
		{"depth=15", asking(b, deep(b, 15))},
		{"rename/depth=3", asking(b, deep(b, 3), deep(b, 2))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := pathlock.New(memstore.New())
			b.ReportAllocs()
			for b.Loop() {
				lock, err := l.Acquire(b.Context(), bench.req)
				if err != nil {
					b.Fatal(err)
				}
				if err := lock.Release(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

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
			outer, err := l.Acquire(b.Context(), asking(b, deep(b, bench.held)))
			if err != nil {
				b.Fatal(err)
			}
			ctx, req := outer.Context(), asking(b, deep(b, bench.asked))
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
