package redisstore

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// documented returns a client as the user of docs/stores.md, who may do what is written there and
// nothing else.
func documented(t *testing.T, d *deployment) redis.UniversalClient {
	t.Helper()
	text, err := os.ReadFile("../../docs/stores.md")
	testerr.Must(t, err)
	_, block, found := strings.Cut(string(text), "ACL SETUSER locks ")
	rules, further, ends := strings.Cut(block, "on a cluster also")
	if !found || !ends {
		t.Fatal("docs/stores.md says no ACL SETUSER locks, or not what a cluster needs")
	}
	if len(d.servers) > 1 {
		further, _, _ = strings.Cut(further, "\n")
		rules += further
	}
	user := []any{"ACL", "SETUSER", "locks"}
	for rule := range strings.FieldsSeq(rules) {
		user = append(user, rule)
	}
	d.everywhere(user...)
	return openStore(t, strings.Replace(d.url, "://", "://locks:password@", 1)).Client()
}

func TestConformance(t *testing.T) {
	client := documented(t, single(t))
	storetest.Run(t, func(t *testing.T) pathlock.Store { return closeStore(t, New(client)) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			client, proxy := distant(t, plain)
			return newStore(t), client, proxy.Pause
		}), storetest.Silence(func(t *testing.T) storetest.Silent {
			server := startServer(t)
			store := server.store(WithTimeout(time.Second))
			t.Cleanup(server.Resume)
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: server.Pause, Resume: server.Resume, Other: server.store()}
		}), storetest.Silence(func(t *testing.T) storetest.Silent { // a host vanishes, and the client does not heed deadlines
			store, proxy := distant(t, func(o *redis.Options) { o.ContextTimeoutEnabled = false }, WithTimeout(time.Second))
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: proxy.Pause, Resume: proxy.Resume, Other: newStore(t)}
		}))
}

func TestConformance_cluster(t *testing.T) {
	t.Parallel()
	client := struct{ *redis.ClusterClient }{ // as a program may wrap it
		documented(t, cluster(testredis.StartCluster(t, testredis.Valkey))).(*redis.ClusterClient),
	}
	storetest.Run(t, func(t *testing.T) pathlock.Store { return closeStore(t, New(client)) }, storetest.Leases(time.Second))
}
