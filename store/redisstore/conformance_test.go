package redisstore

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			client, proxy := distant(t, plain)
			return newStore(t), client, proxy.Pause
		}), storetest.Silence(func(t *testing.T) storetest.Silent {
			server := startServer(t)
			store := server.store(WithTimeout(time.Second))
			t.Cleanup(server.Resume)
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: server.Pause, Resume: server.Resume, Other: server.store()}
		}))
}

// TestConformance_documentedUser: on valkey and on a cluster, the user of docs/stores.md, who may
// do what is written there and nothing else, is enough for all promises.
func TestConformance_documentedUser(t *testing.T) {
	text, err := os.ReadFile("../../docs/stores.md")
	testerr.Must(t, err)
	_, block, found := strings.Cut(string(text), "ACL SETUSER locks ")
	rules, further, ends := strings.Cut(block, "on a cluster also")
	further, _, _ = strings.Cut(further, "\n")
	if !found || !ends {
		t.Fatal("docs/stores.md says no ACL SETUSER locks, or not what a cluster needs")
	}
	forEach(t, []string{"valkey", "cluster"}, func(t *testing.T, d *deployment) {
		user, all := []any{"ACL", "SETUSER", "locks"}, strings.Fields(rules)
		if len(d.servers) > 1 {
			all = append(all, strings.Fields(further)...)
		}
		for _, rule := range all {
			user = append(user, rule)
		}
		d.everywhere(user...)
		client := openStore(t, strings.Replace(d.url, "://", "://locks:password@", 1)).Client()
		storetest.Run(t, func(t *testing.T) pathlock.Store { return closeStore(t, New(client)) }, storetest.Leases(time.Second))
	})
}
