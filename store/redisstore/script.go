package redisstore

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The Lua scripts' text; scripts/lib/keys.lua says how they are put together.
var (
	//go:embed scripts/lib/keys.lua
	keysLua string
	//go:embed scripts/lib/clock.lua
	clockLua string
	//go:embed scripts/thin/acquire.lua
	thinAcquireLua string
	//go:embed scripts/thin/release.lua
	thinReleaseLua string
	//go:embed scripts/short/acquire.lua
	shortAcquireLua string
	//go:embed scripts/short/release.lua
	shortReleaseLua string
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
	// short is the status that a reply of the script's short way means; "" if it has no short way.
	short string
}

// newScript puts a script together. The parts in quick come before the library, and mean the status
// short when they answer.
func newScript(source, short string, quick ...string) script {
	parts := slices.Concat([]string{keysLua}, quick, []string{tableLua, queueLua, handoverLua, source})
	whole := strings.Join(parts, "\n")
	return script{whole, sha1Hex(whole), short}
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
		acquire:  newScript(acquireLua, "granted", clockLua, thinAcquireLua, shortAcquireLua),
		release:  newScript(releaseLua, "released", thinReleaseLua, clockLua, shortReleaseLua),
		withdraw: newScript(withdrawLua, "", clockLua),
		renew:    newScript(renewLua, "", clockLua),
		force:    newScript(forceLua, "", clockLua),
		proceed:  newScript(proceedLua, "", clockLua),
		blocker:  newScript(blockerLua, "", clockLua),
		snapshot: newScript(snapshotLua, "", clockLua),
	}
}

// ask calls a script that answers with a [reply].
func (s *script) ask(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (reply, error) {
	answer, err := s.run(ctx, client, keys, args...)
	if err != nil {
		return reply{}, err
	}
	return parseReply(answer, s.short)
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
