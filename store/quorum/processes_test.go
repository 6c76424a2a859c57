package quorum_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testprocesses"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// openServers opens a quorum of Redis servers, as another process has it, by their addresses.
func openServers(addrs string) (pathlock.Store, error) {
	var members []pathlock.Store
	for addr := range strings.SplitSeq(addrs, ",") {
		store, err := redisstore.Open("redis://" + addr)
		if err != nil {
			return nil, err
		}
		members = append(members, store)
	}
	return quorum.New(members, quorum.WithTimeout(generous))
}

func TestProcesses(t *testing.T) {
	servers := startRedis(t)
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr)
	}
	testprocesses.Run(t, func(t *testing.T) (string, pathlock.Store) {
		return strings.Join(addrs, ","), newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(generous))
	})
}
