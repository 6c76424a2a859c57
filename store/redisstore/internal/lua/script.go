package lua

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua script that Redis knows by the SHA-1 of its text.
type Script struct {
	// Source is what Redis is sent, and keeps.
	Source string

	sha string
	// name is sha for commands, which would have to allocate it each time.
	name any
}

// NewScript returns a script without the comments and the indentation of its text, line for line.
// Nothing in the text may begin with two dashes but comments.
func NewScript(text string) Script {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "--")
		b.WriteString(strings.TrimSpace(code))
		b.WriteByte('\n')
	}
	sha := SHA1(b.String())
	return Script{Source: b.String(), sha: sha, name: sha}
}

// SHA returns what Redis names the script by.
func (sc *Script) SHA() string { return sc.sha }

// SHA1 returns the SHA-1 of a text in hexadecimal, as redis.sha1hex does.
func SHA1(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Ask runs a script that answers with a [Reply].
func (sc *Script) Ask(ctx context.Context, r *Runner, keys []string, args ...any) (Reply, error) {
	answer, err := sc.Run(ctx, r, keys, args...)
	if err != nil {
		return Reply{}, err
	}
	return ParseReply(answer)
}

// Run runs a script. Arguments are anything that the client can write, strings best by pointers.
//
// While a slot moves, or somebody flushes scripts as fast as they are loaded, Run calls the script
// again for as long as ctx has time.
func (sc *Script) Run(ctx context.Context, r *Runner, keys []string, args ...any) (any, error) {
	for pause := time.Duration(0); ; pause = min(max(2*pause, firstMovePause), longestMovePause) {
		answer, err := r.call(ctx, "evalsha", sc.name, keys, args)
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

// While a slot moves, some keys of a tree are on one node and some on another, and neither runs a
// script: it has to be sent again, in these pauses.
const (
	firstMovePause   = 5 * time.Millisecond
	longestMovePause = 100 * time.Millisecond
)

// refused notes that Redis has not carried out a command that was sent.
func refused(args []any) {
	for _, arg := range args {
		if c, ok := arg.(*Counted); ok {
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
