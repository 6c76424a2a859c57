package redisstore

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The Lua scripts' text; scripts/lib/keys.lua says how they are put together.
var (
	//go:embed scripts/lib/keys.lua
	keysLua string
	//go:embed scripts/lib/clock.lua
	clockLua string
	//go:embed scripts/lib/record.lua
	recordLua string
	//go:embed scripts/lib/modes.lua
	modesLua string
	//go:embed scripts/lib/apart.lua
	apartLua string
	//go:embed scripts/lib/state.lua
	stateLua string
	//go:embed scripts/lib/nodes.lua
	nodesLua string
	//go:embed scripts/lib/holdings.lua
	holdingsLua string
	//go:embed scripts/lib/thin.lua
	thinLua string
	//go:embed scripts/lib/gate.lua
	gateLua string
	//go:embed scripts/lib/queue.lua
	queueLua string
	//go:embed scripts/lib/waits.lua
	waitsLua string
	//go:embed scripts/lib/grant.lua
	grantLua string
	//go:embed scripts/lib/handover.lua
	handoverLua string
	//go:embed scripts/lib/repair.lua
	repairLua string
	//go:embed scripts/lib/open.lua
	openLua string

	//go:embed scripts/thin/acquire.lua
	thinAcquireLua string
	//go:embed scripts/thin/release.lua
	thinReleaseLua string
	//go:embed scripts/short/acquire.lua
	shortAcquireLua string
	//go:embed scripts/short/release.lua
	shortReleaseLua string
	//go:embed scripts/short/successor.lua
	successorLua string

	//go:embed scripts/acquire.lua
	acquireLua string
	//go:embed scripts/release.lua
	releaseLua string
	//go:embed scripts/withdraw.lua
	withdrawLua string
	//go:embed scripts/renew.lua
	renewLua string
	//go:embed scripts/transfer.lua
	transferLua string
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
	// name is sha for commands, which would have to allocate it each time.
	name any
	// short is the status that a reply of the script's short way means; "" if it has no short way.
	short string
	// lane is what the script must not wait for.
	lane lane
}

// The parts of the library, in their order, as functions inside each other (see newScript): those
// for scripts that read, and those for scripts that change. Lua lets a function use sixty names
// from outside of it, so that some share one.
var (
	readParts   = []string{stateLua, nodesLua, holdingsLua, gateLua, queueLua, waitsLua}
	changeParts = []string{
		stateLua, nodesLua, holdingsLua, gateLua,
		queueLua + thinLua + repairLua + openLua, waitsLua, grantLua, handoverLua,
	}
)

// newScript puts a script together: what comes at once, where that has not answered the parts of
// the library, and the script's own text. An answer of what comes at once means the status short.
//
// The library's parts, and what follows each of them, are functions inside each other. A function
// takes what it uses from the one around it at once, but has to search for what belongs to the same
// one, which is where most of the time goes that the library takes.
func newScript(source, short string, quick, library []string) script {
	parts := slices.Concat([]string{keysLua, recordLua}, quick)
	for _, part := range []string{clockLua, modesLua, apartLua} {
		if !slices.Contains(quick, part) {
			parts = append(parts, part)
		}
	}
	library = append(slices.Clone(library), source)
	for _, part := range library {
		parts = append(parts, "return (function()", part)
	}
	parts = append(parts, strings.Repeat("end)()\n", len(library)))
	whole := withoutComments(strings.Join(parts, "\n"))
	sha := sha1Hex(whole)
	return script{source: whole, sha: sha, name: sha, short: short}
}

// withoutComments returns a script without comments and indentation, line for line: what Redis is
// sent, and keeps. Nothing in the scripts begins with two dashes but comments.
func withoutComments(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		code, _, _ := strings.Cut(line, "--")
		b.WriteString(strings.TrimSpace(code))
		b.WriteByte('\n')
	}
	return b.String()
}

// sha1Hex is what Redis names scripts by, and offers to scripts.
func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// scripts are all that a store calls.
type scripts struct {
	acquire, release, withdraw, renew, transfer, force, proceed, blocker, snapshot script
}

func newScripts() scripts {
	all := scripts{
		acquire:  newScript(acquireLua, "granted", []string{clockLua, thinAcquireLua, modesLua, shortAcquireLua}, changeParts),
		release:  newScript(releaseLua, "released", []string{thinReleaseLua, clockLua, successorLua, modesLua, apartLua, shortReleaseLua}, changeParts),
		withdraw: newScript(withdrawLua, "", nil, changeParts),
		renew:    newScript(renewLua, "", nil, changeParts),
		transfer: newScript(transferLua, "", nil, changeParts),
		force:    newScript(forceLua, "", nil, changeParts),
		proceed:  newScript(proceedLua, "", nil, changeParts),
		blocker:  newScript(blockerLua, "", nil, readParts),
		snapshot: newScript(snapshotLua, "", nil, nil),
	}
	all.acquire.lane = asking
	return all
}

// ask runs a script that answers with a [reply].
func (sc *script) ask(ctx context.Context, r runner, keys []string, args ...any) (reply, error) {
	answer, err := sc.run(ctx, r, keys, args...)
	if err != nil {
		return reply{}, err
	}
	return parseReply(answer, sc.short)
}

// run runs a script. Arguments are anything that the client can write, strings best by pointers.
//
// While a slot moves, or somebody flushes scripts as fast as they are loaded, it is called again
// for as long as ctx has time.
func (sc *script) run(ctx context.Context, r runner, keys []string, args ...any) (any, error) {
	for pause := time.Duration(0); ; pause = min(max(2*pause, firstMovePause), longestMovePause) {
		answer, err := r.call(ctx, sc.lane, "evalsha", sc.name, keys, args)
		if err != nil && redis.HasErrorPrefix(err, "NOSCRIPT") {
			refused(args)
			answer, err = r.learn(ctx, sc, keys, args)
		}
		switch {
		case errors.Is(err, errLearned):
			if pause == 0 {
				continue
			}
		case err != nil && r.moving(err):
			refused(args)
		default:
			return answer, err
		}
		if !waited(ctx, max(pause, firstMovePause)) {
			return nil, err
		}
	}
}

// While a slot moves, some keys of a tree are here and some are there, and neither node runs a
// script: it has to be sent again, in these pauses.
const (
	firstMovePause   = 5 * time.Millisecond
	longestMovePause = 100 * time.Millisecond
)

// refused notes that Redis has not carried out a command that was sent.
func refused(args []any) {
	for _, arg := range args {
		if c, ok := arg.(*counted); ok {
			c.refused()
		}
	}
}

// waited waits, and reports whether ctx has time left then.
func waited(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
