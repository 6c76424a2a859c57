package redisstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// runner runs scripts.
type runner struct {
	client redis.UniversalClient
	// process sends a command and waits for its reply: the client's own way, or a pipeline's.
	process func(ctx context.Context, lane lane, cmd redis.Cmder) error
}

// lane tells commands apart that must not wait for each other.
type lane int

const (
	// keeping is for what keeps or gives back what there is: renewals, releases, withdrawals.
	keeping lane = iota
	// asking is for acquisitions.
	asking
	lanes
)

// errLearned says that Redis has been given a script, and has to be asked again.
var errLearned = errors.New("the server forgets scripts as fast as they are loaded")

// learn gives Redis a script that it does not know, as after a restart or a failover, and runs it
// if it can do both at once; if not, the error is errLearned.
//
// Redis 7.4 and later may forget what came with EVAL, so SCRIPT LOAD it is; but that goes to every
// node of a cluster, and fails with the first that is down. There, EVAL goes where the keys are.
func (r runner) learn(ctx context.Context, sc *script, keys []string, args []any) (any, error) {
	if r.isCluster() {
		return r.call(ctx, sc.lane, "eval", sc.source, keys, args)
	}
	if err := r.client.ScriptLoad(ctx, sc.source).Err(); err != nil {
		return nil, fmt.Errorf("loading a script: %w", err)
	}
	return nil, errLearned
}

func (r runner) isCluster() bool {
	_, ok := r.client.(*redis.ClusterClient)
	return ok
}

// moving reports whether err says that a slot is on its way from one node of a cluster to another.
// The client follows a few redirects by itself.
func (r runner) moving(err error) bool {
	if redis.IsTryAgainError(err) {
		return true
	}
	_, moved := redis.IsMovedError(err)
	_, ask := redis.IsAskError(err)
	return (moved || ask) && r.isCluster()
}

// call sends EVAL or EVALSHA. Strings in keys and args go by pointers, which takes less time than
// to put strings into interfaces.
func (r runner) call(ctx context.Context, lane lane, command string, script any, keys []string, args []any) (any, error) {
	const beforeKeys = 3
	all := make([]any, 0, beforeKeys+len(keys)+len(args))
	all = append(all, command, script, len(keys))
	for i := range keys {
		all = append(all, &keys[i])
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	cmd.SetFirstKeyPos(beforeKeys)
	if err := r.process(ctx, lane, cmd); err != nil {
		return nil, err // the command may be another goroutine's still
	}
	return cmd.Result()
}
