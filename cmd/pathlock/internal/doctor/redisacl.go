package doctor

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/store/redisstore"
)

// aclScript asks the server whether the user of the connection may run a command.
//
//go:embed acl.lua
var aclScript string

// aclKey and aclChannel stand for all keys and channels of the locks.
const (
	aclKey     = redisstore.DefaultPrefix + ":{" + probeNamespace + "/acl}:locks"
	aclChannel = redisstore.DefaultPrefix + ":wake:" + probeNamespace
)

// aclCommands are what the store runs, itself and in its scripts, as docs/stores.md lists it. K and
// C stand for a key and a channel.
const (
	aclCommands = `ping; scan 0; evalsha x 1 K; eval x 1 K; script load x; time; exists K; get K; set K v; del K; hget K f; hmget K f; hgetall K;
hexists K f; hset K f v; hdel K f; zadd K 1 m; zrem K m; zscore K m; zscan K 0; zcard K; zcount K 0 1; zlexcount K - +; zrange K 0 1;
zrangebyscore K 0 1; zrangebylex K - +; zrevrange K 0 1; zrevrank K m; pexpire K 1; pexpireat K 1; pttl K; publish C m; subscribe C; unsubscribe C`
	aclClusterCommands = `; command; command info get; cluster slots`
)

// acl asks which of the commands that the store runs its user may not run.
func (e *exam) acl(ctx context.Context, n redisNode, cluster bool) {
	commands := aclCommands
	if cluster {
		commands += aclClusterCommands
	}
	var lacking []string
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		lacking, err = lackingCommands(ctx, n.client, commands)
		return err
	})
	switch {
	case err == nil && len(lacking) == 0:
		e.fine(n.addr, "rights", "the user may run all commands that locks need")
	case err == nil:
		e.found(Problem, n.addr, "rights", "the user may not run "+strings.Join(lacking, ", "), "locks are not granted, or nobody hears of them",
			"as an administrator: ACL SETUSER "+userOf(n.client)+" ~"+redisstore.DefaultPrefix+":* &"+redisstore.DefaultPrefix+":* "+grants(lacking)+", then ACL SAVE")
	case strings.HasPrefix(refusal(err), "NOPERM"):
		e.found(Problem, n.addr, "rights", "the user may not run scripts: "+refusal(err), "nothing is granted", "as an administrator: ACL SETUSER "+userOf(n.client)+" +eval +evalsha +script|load, then ACL SAVE")
	default:
		e.unknown(n.addr, "rights", err, "")
	}
}

// lackingCommands asks for all commands in one pipeline.
func lackingCommands(ctx context.Context, client *redis.Client, commands string) ([]string, error) {
	pipe := client.Pipeline()
	var names []string
	var answers []*redis.Cmd
	for command := range strings.SplitSeq(commands, ";") {
		words := strings.Fields(command)
		args := make([]any, len(words))
		for i, word := range words {
			switch word {
			case "K":
				args[i] = aclKey
			case "C":
				args[i] = aclChannel
			default:
				args[i] = word
			}
		}
		name := words[0]
		if slices.Contains([]string{"script", "cluster"}, name) || len(words) > 1 && name == "command" {
			name += "|" + words[1]
		}
		names = append(names, name)
		answers = append(answers, pipe.Eval(ctx, aclScript, nil, args...))
	}
	_, _ = pipe.Exec(ctx) // each answer has its own error
	var lacking []string
	for i, answer := range answers {
		may, err := answer.Int()
		if err != nil {
			return nil, fmt.Errorf("asking whether the user may run %s: %w", names[i], err)
		}
		if may == 0 {
			lacking = append(lacking, names[i])
		}
	}
	return lacking, nil
}

// userOf returns the user of a client.
func userOf(client *redis.Client) string {
	if user := client.Options().Username; user != "" {
		return user
	}
	return "default"
}

// grants writes commands as ACL SETUSER takes them.
func grants(commands []string) string { return "+" + strings.Join(commands, " +") }
