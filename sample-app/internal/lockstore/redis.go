package lockstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/store/redisstore"
)

// closing is how long a store may take to withdraw the requests that nobody waits for any more.
const closing = 5 * time.Second

// openRedis opens a store that any number of instances share. It connects when it is first used.
func openRedis(_ context.Context, rawURL string) (*Store, error) {
	store, err := redisstore.Open(rawURL)
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, Where: withoutSecrets(rawURL), close: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		return store.Close(ctx)
	}}, nil
}

// withoutSecrets removes the user, the password and the options from a URL. It keeps the primary's
// name, which precedes the hosts of a redis+sentinel URL.
func withoutSecrets(rawURL string) string {
	rawURL, _, _ = strings.Cut(rawURL, "?")
	scheme, rest, _ := strings.Cut(rawURL, "://")
	at := strings.LastIndexByte(rest, '@')
	if scheme == "redis+sentinel" && at >= 0 {
		at = strings.LastIndexByte(rest[:at], '@')
	}
	return scheme + "://" + rest[at+1:]
}

// withPassword puts a password into a URL that has none, and percent-encodes it.
func withPassword(rawURL, password string) (string, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	parts := strings.Split(rest[:end], "@")
	// In a redis+sentinel URL, the primary's name stands between the user and the hosts.
	fixed := 1
	if scheme == "redis+sentinel" {
		fixed = 2
	}
	user := ""
	switch {
	case !strings.HasPrefix(scheme, "redis"):
		return "", errors.New("only a redis lock store has a password")
	case len(parts) > fixed+1, len(parts) < fixed, len(parts) == fixed+1 && strings.Contains(parts[0], ":"):
		return "", errors.New("the password is given beside the URL, so the URL must not have one")
	case len(parts) == fixed+1:
		user = parts[0]
		parts = parts[1:]
	}
	user += url.UserPassword("", password).String()
	return scheme + "://" + user + "@" + strings.Join(parts, "@") + rest[end:], nil
}

// ClientLog writes the messages of the Redis client to a log. Without it, the client writes them to
// standard error. It is for redis.SetLogger, which is global: only a program's main may call that.
type ClientLog struct{ Log *slog.Logger }

// Printf implements the interface that redis.SetLogger takes.
func (l ClientLog) Printf(ctx context.Context, format string, values ...any) {
	l.Log.WarnContext(ctx, "redis client", "message", fmt.Sprintf(format, values...))
}
