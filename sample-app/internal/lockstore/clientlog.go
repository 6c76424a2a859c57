package lockstore

import (
	"context"
	"fmt"
	"log/slog"
)

// ClientLog writes the messages of the Redis client to a log. Without it, the client writes them to
// standard error. It is for redis.SetLogger, which is global: only a program's main may call that.
type ClientLog struct{ Log *slog.Logger }

// Printf implements the interface that redis.SetLogger takes.
func (l ClientLog) Printf(ctx context.Context, format string, values ...any) {
	l.Log.WarnContext(ctx, "redis client", "message", fmt.Sprintf(format, values...))
}
