package quorum_test

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// BenchmarkAcquireRelease compares a quorum of three with one of its members: an uncontended
// acquisition and its release.
func BenchmarkAcquireRelease(b *testing.B) {
	run := func(name string, store func(b *testing.B) pathlock.Store) {
		b.Run(name, func(b *testing.B) {
			s, tree := store(b), newTree(b)
			for b.Loop() {
				req := ask(tree, x("/dir1/dir2/new"))
				take(b, s, req)
				release(b, s, req)
			}
		})
	}
	run("memstore", func(*testing.B) pathlock.Store { return memstore.New() })
	run("quorum of memstores", func(b *testing.B) pathlock.Store { return newQuorum(b, memstores(3)) })
	run("redisstore", func(b *testing.B) pathlock.Store { return redisMembers(b, startRedis(b))[0] })
	run("quorum of redisstores", func(b *testing.B) pathlock.Store {
		return newQuorum(b, redisMembers(b, startRedis(b)))
	})
	run("quorum of redisstores, one killed", func(b *testing.B) pathlock.Store {
		servers := startRedis(b)
		servers[2].Kill()
		return newQuorum(b, redisMembers(b, servers), quorum.WithTimeout(timeout))
	})
}
