package calls

import (
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestPace: a server is asked directly that answered briskly the last time, by a client that heeds
// deadlines.
func TestPace(t *testing.T) {
	const nowhere = "127.0.0.1:1"
	heeds := redis.Options{Addr: nowhere, ContextTimeoutEnabled: true}
	heedsNone := heeds
	heedsNone.ContextTimeoutEnabled = false
	for name, c := range map[string]struct {
		client redis.UniversalClient
		ago    time.Duration
		err    error
		want   bool
	}{
		"a brisk answer":                  {redis.NewClient(&heeds), 0, nil, true},
		"a brisk refusal":                 {redis.NewClient(&heeds), 0, refusal("OOM"), true},
		"a slow answer":                   {redis.NewClient(&heeds), briskly, nil, false},
		"no answer":                       {redis.NewClient(&heeds), 0, net.ErrClosed, false},
		"a client that heeds no deadline": {redis.NewClient(&heedsNone), 0, nil, false},
		"a cluster":                       {redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nowhere}, ContextTimeoutEnabled: true}), 0, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { _ = c.client.Close() })
			p := newPace(c.client)
			p.note(time.Now().Add(-c.ago), c.err)
			if got := p.Brisk.Load(); got != c.want {
				t.Errorf("asked directly: %v, want %v", got, c.want)
			}
		})
	}
}

// refusal is an error that a server answers with.
type refusal string

func (r refusal) Error() string { return string(r) }
func (refusal) RedisError()     {}
