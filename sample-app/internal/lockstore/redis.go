package lockstore

import (
	"context"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/store/redisstore"
)

// closing is how long a store has to withdraw what nobody waits for any more.
const closing = 5 * time.Second

// openRedis opens a store that any number of instances share. It connects when it is first used.
func openRedis(_ context.Context, url string) (*Store, error) {
	store, err := redisstore.Open(url)
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, Where: withoutSecrets(url), close: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		return store.Close(ctx)
	}}, nil
}

// withoutSecrets leaves out of a URL who logs in, and the options. What precedes the hosts of a
// redis+sentinel URL last is the primary's name: that stays.
func withoutSecrets(url string) string {
	url, _, _ = strings.Cut(url, "?")
	scheme, rest, _ := strings.Cut(url, "://")
	at := strings.LastIndexByte(rest, '@')
	if scheme == "redis+sentinel" && at >= 0 {
		at = strings.LastIndexByte(rest[:at], '@')
	}
	return scheme + "://" + rest[at+1:]
}
