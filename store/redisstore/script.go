package redisstore

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// The Lua scripts' text. Those in lib stand in front of every other.
var (
	//go:embed scripts/lib/table.lua
	tableLua string
	//go:embed scripts/lib/queue.lua
	queueLua string
	//go:embed scripts/lib/handover.lua
	handoverLua string

	//go:embed scripts/acquire.lua
	acquireLua string
	//go:embed scripts/release.lua
	releaseLua string
	//go:embed scripts/withdraw.lua
	withdrawLua string
	//go:embed scripts/renew.lua
	renewLua string
	//go:embed scripts/force.lua
	forceLua string
	//go:embed scripts/proceed.lua
	proceedLua string
	//go:embed scripts/blocker.lua
	blockerLua string
	//go:embed scripts/snapshot.lua
	snapshotLua string
)

// script is a Lua script that Redis knows by the SHA-1 of its text.
type script struct {
	source string
	sha    string
}

func newScript(source string) script {
	source = tableLua + queueLua + handoverLua + source
	return script{source, sha1Hex(source)}
}

// sha1Hex is what Redis names scripts by, and offers to scripts.
func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// scripts are all that a store calls.
type scripts struct {
	acquire, release, withdraw, renew, force, proceed, blocker, snapshot script
}

func newScripts() scripts {
	return scripts{
		acquire:  newScript(acquireLua),
		release:  newScript(releaseLua),
		withdraw: newScript(withdrawLua),
		renew:    newScript(renewLua),
		force:    newScript(forceLua),
		proceed:  newScript(proceedLua),
		blocker:  newScript(blockerLua),
		snapshot: newScript(snapshotLua),
	}
}

// ask calls a script that answers with a [reply].
func (s *script) ask(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (reply, error) {
	answer, err := s.run(ctx, client, keys, args...)
	if err != nil {
		return reply{}, err
	}
	return parseReply(answer)
}

// run calls the script. A server that does not know it, as after a restart or a
// failover, is given it with SCRIPT LOAD: Redis 7.4 and later may forget those that came with EVAL.
func (s *script) run(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (any, error) {
	reply, err := client.EvalSha(ctx, s.sha, keys, args...).Result()
	if !redis.HasErrorPrefix(err, "NOSCRIPT") {
		return reply, err
	}
	if err := client.ScriptLoad(ctx, s.source).Err(); err != nil {
		return nil, fmt.Errorf("loading a script: %w", err)
	}
	for _, arg := range args {
		if c, ok := arg.(*counted); ok {
			c.reset() // Redis refused the command: it has not been carried out
		}
	}
	return client.EvalSha(ctx, s.sha, keys, args...).Result()
}
