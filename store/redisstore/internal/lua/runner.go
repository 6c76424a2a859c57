package lua

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Lane tells commands apart that must not wait for each other.
type Lane int

const (
	// Keeping is for what keeps or gives back what there is: renewals, releases, withdrawals.
	Keeping Lane = iota
	// Asking is for acquisitions.
	Asking
	lanes
)

// Runner sends the commands that run scripts.
type Runner struct {
	client redis.UniversalClient
	// Process sends a command and waits for its reply. After an error, nobody looks at the command.
	Process func(ctx context.Context, lane Lane, cmd redis.Cmder) error
}

// NewRunner returns a runner that sends commands to a single server by a [Pipeline], whose batches
// have the timeout if their commands have no deadline, and to others by the client's own way.
func NewRunner(client redis.UniversalClient, timeout time.Duration) *Runner {
	r := &Runner{client: client}
	if single, ok := client.(*redis.Client); ok {
		r.Process = NewPipeline(single, timeout).Process
		return r
	}
	r.Process = func(ctx context.Context, _ Lane, cmd redis.Cmder) error { return client.Process(ctx, cmd) }
	return r
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
		return r.call(ctx, sc.Lane, "eval", sc.Source, keys, args)
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
func (r *Runner) call(ctx context.Context, lane Lane, command string, script any, keys []string, args []any) (any, error) {
	const beforeKeys = 3
	all := make([]any, 0, beforeKeys+len(keys)+len(args))
	all = append(all, command, script, len(keys))
	for i := range keys {
		all = append(all, &keys[i])
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	cmd.SetFirstKeyPos(beforeKeys)
	if err := r.Process(ctx, lane, cmd); err != nil {
		return nil, err // the command may be another goroutine's still
	}
	return cmd.Result()
}
