package redisstore

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// What go-redis has to say goes to the program's log, and not to standard error. The setting is
// global, so it is made before a program's main, which may make another one by [redis.SetLogger].
func init() { redis.SetLogger(clientLog{}) }

// clientLog writes to [slog.Default].
type clientLog struct{}

// Printf implements the interface that [redis.SetLogger] takes.
func (clientLog) Printf(ctx context.Context, format string, values ...any) {
	slog.WarnContext(ctx, "redis client", "message", fmt.Sprintf(format, values...))
}
