package simredis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/proof/budget"
)

// words are commands with what may stand in them: a key, a field, a number, or one of a choice. One
// that ends in "…" may come again.
var words = strings.Split(`EXISTS KEY…
DEL KEY
GET KEY
SET KEY FIELD
SET KEY NUMBER PX 100000 GET
SET KEY FIELD PXAT FUTURE
SET KEY FIELD NX PX 100000
PEXPIRE KEY 100000 NX
PEXPIREAT KEY FUTURE GT
PEXPIREAT KEY FUTURE
PEXPIREAT KEY 1
HGET KEY FIELD
HMGET KEY FIELD…
HEXISTS KEY FIELD
HSET KEY FIELD NUMBER
HDEL KEY FIELD…
ZADD KEY NUMBER FIELD
ZADD KEY 0 FIELD
ZREM KEY FIELD…
ZSCORE KEY FIELD
ZCOUNT KEY -inf NUMBER
ZRANGE KEY 0 RANK WITHSCORES
ZREVRANGE KEY RANK RANK
ZRANGEBYSCORE KEY -inf NUMBER`, "\n")

// byName are commands on sets all of whose scores are equal.
var byName = strings.Split(`ZADD LEX 0 FIELD
ZREM LEX FIELD
ZRANGEBYLEX LEX [FIELD (FIELD
ZRANGEBYLEX LEX [FIELD (FIELD LIMIT 0 1
ZLEXCOUNT LEX [FIELD (FIELD`, "\n")

// TestSimredis_isRedis: the same random commands, by themselves and in a script, get the same
// answers from the small Redis and from a real one.
func TestSimredis_isRedis(t *testing.T) {
	options, err := redis.ParseURL(testserver.Redis(t))
	testerr.Must(t, err)
	options.Protocol = 2
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	began, seed, commands := time.Now(), budget.Seed(), 0
	random := rand.New(rand.NewPCG(seed, 0))
	small := New()
	for ; time.Since(began) < budget.Time(); commands++ {
		if commands%200 == 0 {
			for _, key := range []string{"k1", "k2", "k3", "lex"} {
				client.Del(t.Context(), "simredis:"+key)
			}
			small.Restore(nil)
		}
		line := slices.Concat(words, byName)[random.IntN(len(words)+len(byName))]
		args := fill(random, line)
		switch random.IntN(3) {
		case 0:
			args = append([]string{"EVAL", "local a = redis.call(unpack(ARGV)) return { type(a), a }", "0"}, args...)
		case 1:
			args = append([]string{"EVAL", "local a = redis.pcall(unpack(ARGV)) return cmsgpack.unpack(cmsgpack.pack({ a = type(a) })).a", "0"}, args...)
		}
		all := make([]any, len(args))
		for i, arg := range args {
			all[i] = arg
		}
		want, realErr := client.Do(t.Context(), all...).Result()
		got, err := small.Do(args...)
		if realErr == redis.Nil { //nolint:errorlint // it is the answer
			realErr = nil
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || (err != nil) != (realErr != nil) {
			t.Fatalf("%s=%d, command %d: %q: %v, %v; a real one: %v, %v", budget.SeedVariable, seed, commands, args, got, err, want, realErr)
		}
	}
	budget.Report(t, "commands", commands, "seed", seed, "seconds", int(time.Since(began).Seconds()))
}

// fill puts random words into a line of words.
func fill(random *rand.Rand, line string) (args []string) {
	one := func(word string) string {
		for name, value := range map[string]string{
			"KEY": fmt.Sprintf("simredis:k%d", 1+random.IntN(3)), "LEX": "simredis:lex", "FIELD": string(rune('a' + random.IntN(5))),
			"NUMBER": fmt.Sprint(random.IntN(1<<random.IntN(50)) - 1), "FUTURE": fmt.Sprint(4_000_000_000_000 + random.Int64N(100)),
			"RANK": fmt.Sprint(random.IntN(6) - 2),
		} {
			word = strings.ReplaceAll(word, name, value)
		}
		return word
	}
	for word := range strings.FieldsSeq(line) {
		word, more := strings.CutSuffix(word, "…")
		args = append(args, one(word))
		for more && random.IntN(2) == 0 {
			args = append(args, one(word))
		}
	}
	return args
}
