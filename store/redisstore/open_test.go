package redisstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestOpen(t *testing.T) {
	type target struct {
		kind     string
		addrs    []string
		user     string
		password string
		db       int
		pool     int
	}
	for _, tt := range []struct {
		url  string
		want target
	}{
		{"redis://127.0.0.1:6380/2", target{kind: "single", addrs: []string{"127.0.0.1:6380"}, db: 2}},
		{"redis://u:p@host?pool_size=7", target{kind: "single", addrs: []string{"host:6379"}, user: "u", password: "p", pool: 7}},
		{"redis://:p@host", target{kind: "single", addrs: []string{"host:6379"}, user: "default", password: "p"}},
		{"rediss://host:1", target{kind: "single", addrs: []string{"host:1"}}},
		{"redis+cluster://h1,h2:7000,h3", target{kind: "cluster", addrs: []string{"h1:6379", "h2:7000", "h3:6379"}}},
		{"redis+cluster://u:p%40%2F@h1,h2?pool_size=7", target{kind: "cluster", addrs: []string{"h1:6379", "h2:6379"}, user: "u", password: "p@/", pool: 7}},
		{"rediss+cluster://h1,h2:7000?server_name=redis.example", target{kind: "cluster", addrs: []string{"h1:6379", "h2:7000"}}},
		{"redis+sentinel://primary@h1,h2:1/3", target{kind: "failover", db: 3}},
		{"redis+sentinel://u:p@primary@h1?pool_size=7&sentinel_password=other", target{kind: "failover", user: "u", password: "p", pool: 7}},
	} {
		t.Run(tt.url, func(t *testing.T) {
			store, err := Open(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = store.Close(t.Context()) }()
			var got target
			var contextual bool
			switch c := store.client.(type) {
			case *redis.ClusterClient:
				o := c.Options()
				got = target{"cluster", o.Addrs, o.Username, o.Password, 0, o.PoolSize}
				contextual = o.ContextTimeoutEnabled
			case *redis.Client:
				o := c.Options()
				got = target{"single", []string{o.Addr}, o.Username, o.Password, o.DB, o.PoolSize}
				contextual = o.ContextTimeoutEnabled
				if _, ok := store.own.(sentinelClient); ok {
					got.kind, got.addrs = "failover", nil
				}
			}
			if tt.want.pool == 0 {
				got.pool = 0 // whatever the client's default is
			}
			if got.kind != tt.want.kind || !slices.Equal(got.addrs, tt.want.addrs) || got.user != tt.want.user ||
				got.password != tt.want.password || got.db != tt.want.db || got.pool != tt.want.pool {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if !contextual {
				t.Error("the client does not heed the context's deadline")
			}
		})
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

// TestOpenServes: a store that Open made takes its client with it.
func TestOpenServes(t *testing.T) {
	store := openStore(t, testserver.Redis(t))
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := store.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := store.client.Ping(t.Context()).Err(); err == nil {
		t.Error("the client outlives the store")
	}
}
