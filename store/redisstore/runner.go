package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// runner runs scripts.
type runner struct {
	client redis.UniversalClient
	// process sends a command and waits for its reply: the client's own way, or a pipeline's.
	process func(ctx context.Context, cmd redis.Cmder) error
}

// learn gives Redis a script that it does not know, as after a restart or a failover, and runs it if it can do
// both at once.
//
// Redis 7.4 and later may forget what came with EVAL, so SCRIPT LOAD it is; but that goes to every node of a
// cluster, and fails with the first that is down. There, EVAL goes where the keys are.
func (r runner) learn(ctx context.Context, sc *script, keys []string, args []any) (any, error) {
	if _, ok := r.client.(*redis.ClusterClient); ok {
		return r.call(ctx, "eval", sc.source, keys, args)
	}
	if err := r.client.ScriptLoad(ctx, sc.source).Err(); err != nil {
		return nil, err
	}
	return r.call(ctx, "evalsha", sc.name, keys, args)
}

// call sends EVAL or EVALSHA. Strings in keys and args go by pointers, which takes less time than to put
// strings into interfaces.
func (r runner) call(ctx context.Context, command string, script any, keys []string, args []any) (any, error) {
	const beforeKeys = 3
	all := make([]any, 0, beforeKeys+len(keys)+len(args))
	all = append(all, command, script, len(keys))
	for i := range keys {
		all = append(all, &keys[i])
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	cmd.SetFirstKeyPos(beforeKeys)
	_ = r.process(ctx, cmd) // the error is the command's, too
	return cmd.Result()
}
