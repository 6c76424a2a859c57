package lockstore

import (
	"context"
	"fmt"
	"log/slog"
)

// ClientLog hands on what the Redis client has to say, which it would else write to standard error
// past any log. It is for redis.SetLogger, which is one for the whole process: a program's main may
// set it, and a library may not.
type ClientLog struct{ Log *slog.Logger }

// Printf implements the client's interface.
func (l ClientLog) Printf(ctx context.Context, format string, values ...any) {
	l.Log.WarnContext(ctx, "redis client", "message", fmt.Sprintf(format, values...))
}
