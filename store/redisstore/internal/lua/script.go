package lua

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua script that Redis knows by the SHA-1 of its text.
type Script struct {
	// Source is what Redis is sent, and keeps.
	Source string
	// SHA is what Redis names the script by.
	SHA string
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
	return Script{b.String(), SHA1(b.String())}
}

// SHA1 returns the SHA-1 of a text in hexadecimal, as redis.sha1hex does.
func SHA1(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Ask runs a script that answers with a [Reply].
func (sc *Script) Ask(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (Reply, error) {
	answer, err := sc.Run(ctx, client, keys, args...)
	if err != nil {
		return Reply{}, err
	}
	return ParseReply(answer)
}

// Run runs a script. Arguments are anything that the client can write. A server that does not know
// the script, as after a restart or a failover, is sent its text. While a slot moves, Run sends the
// script again for as long as ctx has time.
func (sc *Script) Run(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (any, error) {
	for pause := firstMovePause; ; pause = min(2*pause, longestMovePause) {
		answer, err := client.EvalSha(ctx, sc.SHA, keys, args...).Result()
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			refused(args)
			answer, err = client.Eval(ctx, sc.Source, keys, args...).Result()
		}
		if err == nil || !moving(client, err) {
			return answer, err
		}
		refused(args)
		if !waited(ctx, pause) {
			return nil, err
		}
	}
}

// moving reports whether err says that a slot is on its way from one node of a cluster to another.
// The client follows a few redirects by itself.
func moving(client redis.UniversalClient, err error) bool {
	_, cluster := client.(*redis.ClusterClient)
	_, moved := redis.IsMovedError(err)
	_, ask := redis.IsAskError(err)
	return cluster && (moved || ask || redis.IsTryAgainError(err))
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
