package topology

import (
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// TestDocumentedUser: the user of docs/stores.md, who may do what is written there and nothing
// else, is enough for all promises.
func TestDocumentedUser(t *testing.T) {
	everywhere, onCluster := documentedUser(t)
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		d := single(t, testredis.Redis)
		d.everywhere(everywhere...)
		options := *d.client(t).(*redis.Client).Options()
		options.Username, options.Password = "locks", "password"
		client := redis.NewClient(&options)
		t.Cleanup(func() { _ = client.Close() })
		storetest.Run(t, func(t *testing.T) pathlock.Store { return open(t, client) })
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		d := cluster(testredis.StartCluster(t, testredis.Redis))
		d.everywhere(append(everywhere, onCluster...)...)
		options := *d.client(t).(*redis.ClusterClient).Options()
		options.Username, options.Password = "locks", "password"
		client := redis.NewClusterClient(&options)
		t.Cleanup(func() { _ = client.Close() })
		storetest.Run(t, func(t *testing.T) pathlock.Store { return open(t, client) })
	})
}

// documentedUser reads the command that makes the user, and what a cluster needs on top.
func documentedUser(t *testing.T) (everywhere, onCluster []any) {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "ACL SETUSER locks ")
	block, _, ends := strings.Cut(block, "```")
	if !found || !ends {
		t.Fatal("docs/stores.md says no ACL SETUSER locks")
	}
	block, further, found := strings.Cut(block, "on a cluster also")
	if !found {
		t.Fatal("docs/stores.md does not say what a cluster needs")
	}
	further, _, _ = strings.Cut(further, "\n")
	everywhere = []any{"ACL", "SETUSER", "locks"}
	for _, rule := range strings.Fields(block) {
		everywhere = append(everywhere, rule)
	}
	for _, rule := range strings.Fields(further) {
		onCluster = append(onCluster, rule)
	}
	return everywhere, onCluster
}
