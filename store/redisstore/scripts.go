package redisstore

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// scriptFiles has the Lua scripts' text; scripts/lib/keys.lua says how they are put together.
//
//go:embed scripts
var scriptFiles embed.FS

// library is the parts of the library, in their order.
var library = strings.Fields(`lib/record lib/fence lib/state lib/open lib/nodes lib/holdings lib/gate
	lib/queue lib/waits lib/grant lib/deadlock lib/reclaim lib/handover`)

func scriptText(name string) string {
	text, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// assemble puts a script's text together: what all scripts begin with; early, which is its fast
// path, behind what that uses of the library; the rest of the library; the script's own text.
//
// The library's parts, and what follows each of them, are functions inside each other. A function
// finds at once what it uses from the one around it, but has to search for what belongs to the same
// one. Most of the time that the library takes goes into that search.
func assemble(name string, early ...string) script {
	text, ends := scriptText("lib/keys")+scriptText("lib/clock")+scriptText("lib/modes"), ""
	for _, part := range early {
		text += scriptText(part)
	}
	for _, part := range append(slices.Clone(library), name) {
		if !slices.Contains(early, part) {
			text, ends = text+"return (function()\n"+scriptText(part), ends+"end)()\n"
		}
	}
	return newScript(text + ends)
}

// scripts are all that a store calls.
type scripts struct {
	acquire, release, withdraw, renew, transfer, force, snapshot script
}

// allScripts returns them, put together once in a process.
var allScripts = sync.OnceValue(func() scripts {
	return scripts{
		acquire:  assemble("acquire", "lib/fence", "fastpath/acquire"),
		release:  assemble("release", "lib/record", "fastpath/release"),
		withdraw: assemble("withdraw"),
		renew:    assemble("renew"),
		transfer: assemble("transfer"),
		force:    assemble("force"),
		snapshot: assemble("snapshot"),
	}
})

// script is a Lua script that Redis knows by the SHA-1 of its text.
type script struct {
	// source is what Redis is sent, and keeps.
	source string
	// sha is what Redis names the script by.
	sha string
}

// newScript returns the script with a text.
func newScript(text string) script { return script{text, sha1Hex(text)} }

// sha1Hex returns the SHA-1 of a text in hexadecimal, as redis.sha1hex does.
func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// ask runs a script. Arguments are anything that the client can write. A server that does not know
// the script, as after a restart or a failover, is sent its text.
func (sc *script) ask(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (reply, error) {
	answer, err := client.EvalSha(ctx, sc.sha, keys, args...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		for _, arg := range args {
			if c, ok := arg.(*counted); ok {
				c.writes.Add(-1) // it was not carried out
			}
		}
		answer, err = client.Eval(ctx, sc.source, keys, args...).Result()
	}
	if err != nil {
		return reply{}, err
	}
	return parseReply(answer)
}

// counted is an argument of a command that knows how often it was written to the server. The Redis
// client sends a command again when it lost the reply. The server may have carried out the first
// one, and a release that finds nothing the second time is then no error.
type counted struct {
	value string
	// writes is how often the command was written and may have been carried out.
	writes atomic.Int32
}

// MarshalBinary implements [encoding.BinaryMarshaler]. The client calls it whenever it writes the
// command.
func (c *counted) MarshalBinary() ([]byte, error) {
	c.writes.Add(1)
	return []byte(c.value), nil
}

// reply is what a script answers: an array whose first element says what the rest means.
type reply struct {
	status string
	rest   []string
}

// parseReply reads an array of strings and numbers.
func parseReply(answer any) (reply, error) {
	items, ok := answer.([]any)
	if !ok || len(items) == 0 {
		return reply{}, fmt.Errorf("unexpected reply %v", answer)
	}
	all := make([]string, len(items))
	for i, item := range items {
		switch v := item.(type) {
		case string:
			all[i] = v
		case int64:
			all[i] = strconv.FormatInt(v, 10)
		default:
			return reply{}, fmt.Errorf("unexpected %T in a reply", item)
		}
	}
	return reply{all[0], all[1:]}, nil
}

// text returns the i-th element after the status, or "" if there are fewer.
func (r reply) text(i int) string {
	if i >= len(r.rest) {
		return ""
	}
	return r.rest[i]
}

// number returns the i-th element after the status as a number, 0 if it is not one.
func (r reply) number(i int) uint64 {
	n, _ := strconv.ParseUint(r.text(i), 10, 64)
	return n
}

// The statuses that begin the replies of the scripts. The header of each script in the folder
// scripts says what follows them.
const (
	statusGranted     = "granted"
	statusQueued      = "queued"
	statusBusy        = "busy"
	statusFull        = "full"
	statusLost        = "lost"
	statusWithdrawn   = "withdrawn"
	statusCrowded     = "crowded"
	statusDeadlock    = "deadlock"
	statusReleased    = "released"
	statusTransferred = "transferred"
	statusTaken       = "taken"
)
