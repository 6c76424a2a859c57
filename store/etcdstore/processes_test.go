package etcdstore

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testprocesses"
)

func TestProcesses(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	testprocesses.Run(t, func(t *testing.T) (string, pathlock.Store) { return "etcd://" + server.Addr, newStore(t, client) })
}

// What nobody looks at ends, too.
func TestEtcdEndsWhatNobodySees(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	acquire(t, newStore(t, client), request(t, newTree(t), "forgotten", 2*time.Second, 0))
	requireNothing(t, client)
}

// etcd's shortest lease is two seconds. A waiter sees earlier that a process has died.
func TestShortLeaseOfADeadProcess(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	survivor := newStore(t, client)
	const lease = 500 * time.Millisecond
	fastest := time.Hour
	for range 10 { // on a busy machine, not every one need be in time
		tree, line := newTree(t), newLine(t, server.Addr)
		victim := newStore(t, connect(t, line.Addr()))
		acquire(t, victim, request(t, tree, "victim", lease, 0))
		line.cut()
		died := time.Now()
		acquire(t, survivor, request(t, tree, "next", time.Minute, time.Minute))
		if fastest = min(fastest, time.Since(died)); fastest < 3*lease {
			return
		}
	}
	t.Errorf("the next is let in after %v, want at most %v", fastest, 3*lease)
}
