package simredis

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/proof/budget"
)

// commandLines are commands with what may stand in them: a key, LEX for a set all of whose scores
// are equal, a field, a number, or one of a choice. A word that ends in "…" may come again.
//
//go:embed testdata/commands.txt
var commandLines string

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
	small, words := New(), strings.Split(strings.TrimSpace(commandLines), "\n")
	for ; time.Since(began) < budget.Time(); commands++ {
		if commands%200 == 0 {
			for _, key := range []string{"k1", "k2", "k3", "lex"} {
				client.Del(t.Context(), "simredis:"+key)
			}
			small.Restore(nil)
		}
		args := fill(random, words[random.IntN(len(words))])
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
