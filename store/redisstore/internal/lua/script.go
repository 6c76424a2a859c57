package lua

import (
	"context"
	"crypto/sha1"
	"encoding/hex"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua script that Redis knows by the SHA-1 of its text.
type Script struct {
	// Source is what Redis is sent, and keeps.
	Source string
	// SHA is what Redis names the script by.
	SHA string
}

// NewScript returns the script with a text.
func NewScript(text string) Script { return Script{text, SHA1(text)} }

// SHA1 returns the SHA-1 of a text in hexadecimal, as redis.sha1hex does.
func SHA1(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Ask runs a script. Arguments are anything that the client can write. A server that does not know
// the script, as after a restart or a failover, is sent its text.
func (sc *Script) Ask(ctx context.Context, client redis.UniversalClient, keys []string, args ...any) (Reply, error) {
	answer, err := client.EvalSha(ctx, sc.SHA, keys, args...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		for _, arg := range args {
			if c, ok := arg.(*Counted); ok {
				c.refused()
			}
		}
		answer, err = client.Eval(ctx, sc.Source, keys, args...).Result()
	}
	if err != nil {
		return Reply{}, err
	}
	return ParseReply(answer)
}
