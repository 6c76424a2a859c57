package contender

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

//go:embed hkeys.lua
var hkeysLua string

// hkeys is the naive script. It locks exclusive subtrees correctly, but has no lease, and gets
// slower with every held lock.
func hkeys() Contender {
	return Contender{
		Name: HKeys, Excludes: true, Shares: true,
		What: "a hash per tree: a script that compares the path with every held one; exclusive only, no lease",
		Open: func(_ context.Context, at Server) (Locks, error) {
			script := redis.NewScript(hkeysLua)
			return openRedis(at, func(client *redis.Client, tree string, leaf pathlock.Path) Lock {
				return &hkeysLock{client: client, script: script, hash: at.Prefix + ":{" + tree + "}", path: leaf.Column() + "/"}
			})
		},
	}
}

type hkeysLock struct {
	client *redis.Client
	script *redis.Script
	hash   string
	path   string
}

func (l *hkeysLock) Acquire(ctx context.Context) error {
	taken, err := l.script.Run(ctx, l.client, []string{l.hash}, l.path, "1").Bool()
	if err != nil {
		return fmt.Errorf("the script with HKEYS: %w", err)
	}
	if !taken {
		return ErrHeld
	}
	return nil
}

func (l *hkeysLock) Release(ctx context.Context) error {
	return l.client.HDel(ctx, l.hash, l.path).Err()
}
