package redisstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"
)

// logOnce has what go-redis says go to the program's log, and not to standard error. The setting is
// that of the whole process, so it is made once: a program that wants another makes it after its
// first [Open].
var logOnce = sync.OnceFunc(func() { redis.SetLogger(clientLog{}) })

// clientLog writes to [slog.Default].
type clientLog struct{}

// Printf implements the interface that [redis.SetLogger] takes.
func (clientLog) Printf(ctx context.Context, format string, values ...any) {
	slog.WarnContext(ctx, "redis client", "message", fmt.Sprintf(format, values...))
}
