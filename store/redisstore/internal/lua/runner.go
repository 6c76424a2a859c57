package lua

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Runner sends the commands that run scripts.
type Runner struct {
	client redis.UniversalClient
	// Process sends a command and waits for its reply. Tests replace it.
	Process func(ctx context.Context, cmd redis.Cmder) error
}

// NewRunner returns a runner that sends commands by a client.
func NewRunner(client redis.UniversalClient) *Runner {
	return &Runner{client: client, Process: client.Process}
}

// errLearned says that Redis has been given a script, and has to be asked again.
var errLearned = errors.New("the server forgets scripts as fast as they are loaded")

// learn gives Redis a script that it does not know, as after a restart or a failover, and runs it
// if it can do both at once. If it cannot, the error is errLearned.
//
// Redis 7.4 and later may forget what came with EVAL, so learn uses SCRIPT LOAD. In a cluster, that
// goes to every node and fails with the first that is down: there, learn uses EVAL, which goes
// where the keys are.
func (r *Runner) learn(ctx context.Context, sc *Script, keys []string, args []any) (any, error) {
	if IsCluster(r.client) {
		return r.call(ctx, "eval", sc.Source, keys, args)
	}
	if err := r.client.ScriptLoad(ctx, sc.Source).Err(); err != nil {
		return nil, fmt.Errorf("loading a script: %w", err)
	}
	return nil, errLearned
}

// IsCluster reports whether a client is that of a cluster, in which another server may answer where
// one does not.
func IsCluster(client redis.UniversalClient) bool {
	_, ok := client.(*redis.ClusterClient)
	return ok
}

// moving reports whether err says that a slot is on its way from one node of a cluster to another.
// The client follows a few redirects by itself.
func (r *Runner) moving(err error) bool {
	if redis.IsTryAgainError(err) {
		return true
	}
	_, moved := redis.IsMovedError(err)
	_, ask := redis.IsAskError(err)
	return (moved || ask) && IsCluster(r.client)
}

// call sends EVAL or EVALSHA. Strings in keys and args go by pointers, which takes less time than
// to put strings into interfaces.
func (r *Runner) call(ctx context.Context, command string, script any, keys []string, args []any) (any, error) {
	const beforeKeys = 3
	all := make([]any, 0, beforeKeys+len(keys)+len(args))
	all = append(all, command, script, len(keys))
	for i := range keys {
		all = append(all, &keys[i])
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	cmd.SetFirstKeyPos(beforeKeys)
	if err := r.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Result()
}
