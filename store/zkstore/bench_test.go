package zkstore

import (
	"testing"

	"github.com/pathlock-go/pathlock/internal/testzk"
)

// BenchmarkAcquireRelease is one lock that nobody else wants. The server keeps nothing on disk in
// time, so a real one is slower by what its disk takes.
func BenchmarkAcquireRelease(b *testing.B) {
	s, tree := newStore(b, testzk.Start(b).Addr), newTree(b)
	for b.Loop() {
		req := ask(tree, x("/a/b/c"))
		take(b, s, req)
		release(b, s, req)
	}
}

// BenchmarkHandOver is the time from a release in one process to the grant in another.
func BenchmarkHandOver(b *testing.B) {
	server := testzk.Start(b)
	stores := []*Store{newStore(b, server.Addr), newStore(b, server.Addr)}
	tree := newTree(b)
	held := ask(tree, x("/n"))
	take(b, stores[0], held)
	for i := 1; b.Loop(); i++ {
		b.StopTimer()
		w := queue(b, stores[i%2], ask(tree, x("/n")))
		b.StartTimer()
		release(b, stores[(i+1)%2], held)
		w.granted()
		held = w.req
	}
}
