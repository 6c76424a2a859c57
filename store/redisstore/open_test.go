package redisstore

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestOpen(t *testing.T) {
	type target struct {
		kind, addrs, user, password string
		db, pool                    int
	}
	for url, want := range map[string]target{
		"redis://127.0.0.1:6380/2":                     {kind: "single", addrs: "127.0.0.1:6380", db: 2},
		"redis://u:p@host?pool_size=7":                 {kind: "single", addrs: "host:6379", user: "u", password: "p", pool: 7},
		"redis://:@host":                               {kind: "single", addrs: "host:6379"},
		"rediss://:p@host":                             {kind: "single", addrs: "host:6379", user: "default", password: "p"},
		"redis+cluster://h1,h2:7000,h3":                {kind: "cluster", addrs: "h1:6379 h2:7000 h3:6379"},
		"rediss+cluster://u:p%40%2F@h1,h2?pool_size=7": {kind: "cluster", addrs: "h1:6379 h2:6379", user: "u", password: "p@/", pool: 7},
		"redis+sentinel://primary@h1,h2:1/3":           {kind: "failover", db: 3},
		"redis+sentinel://u:p@primary@h1?pool_size=7&sentinel_password=other": {kind: "failover", user: "u", password: "p", pool: 7},
	} {
		store := openStore(t, url)
		var got target
		var contextual bool
		switch c := store.client.(type) {
		case *redis.ClusterClient:
			o := c.Options()
			got = target{"cluster", strings.Join(o.Addrs, " "), o.Username, o.Password, 0, o.PoolSize}
			contextual = o.ContextTimeoutEnabled
		case *redis.Client:
			o := c.Options()
			got = target{"single", o.Addr, o.Username, o.Password, o.DB, o.PoolSize}
			contextual = o.ContextTimeoutEnabled
			if _, ok := store.own.(sentinelClient); ok {
				got.kind, got.addrs = "failover", ""
			}
		}
		if want.pool == 0 {
			got.pool = 0 // whatever the client's default is
		}
		if got != want || !contextual {
			t.Errorf("%s: got %+v, want %+v; the client heeds deadlines: %v", url, got, want, contextual)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for says, urls := range map[string][]string{
		"": {
			"", "127.0.0.1:6379", "http://127.0.0.1", "redis://:secret@h/notanumber", "redis+cluster://", "redis+cluster://h1,,h2",
			"redis+cluster://h1/2", "redis+cluster://name@secret@h1", "redis+sentinel://h1,h2", "redis+sentinel://name@h1/notanumber",
			"redis+cluster://u:secret@h1?pool_size=many", "redis:/:secret@h1/0", "secret://h1", "redis+secret://h1", "redis+://h1",
			"rediss+://h1", "redis://:12#secret@h1/0", "redis+cluster://u:12#secret@h1", "redis://:12/secret@h1/0",
			"redis+sentinel://u:12#secret@name@h1", "redis+sentinel://u:secret@h1,h2", "redis+sentinel://:secret@h1",
		},
		// The client would work as the default user, whose rights are other ones.
		"without a password": {
			"redis://app@h", "rediss://app:@h", "redis+cluster://app@h1,h2", "redis+sentinel://app@name@h1",
			"redis+sentinel://app:p@name@h1?sentinel_username=watcher",
		},
	} {
		for _, url := range urls {
			store, err := Open(url)
			if err == nil {
				_ = store.Close(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Open(%q): %v, want an error that says %q and no password", url, err, says)
			}
		}
	}
}
