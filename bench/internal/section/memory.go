package section

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

const memoryDepth = 15

// memoryCase is one contender with one arrangement of locks.
type memoryCase struct {
	row       string
	contender string
	at        func(i int) node
}

// judgedMemory is the row that the target judges: suites in one plan, with shared upper levels.
const judgedMemory = contender.Store + ", one tree branching in two"

// memory measures the memory of a held lock.
func memory(ctx context.Context, env *Env) (result, error) {
	inTwo := func(i int) node { return node{"plan", spread(i, memoryDepth, 2)} }
	inTen := func(i int) node { return node{"plan", spread(i, memoryDepth, 10)} }
	rootOnly := func(i int) node { return node{"plan", apart(i, memoryDepth)} }
	ownTree := func(i int) node { return node{fmt.Sprintf("plan-%06d", i), leafAt(memoryDepth, "case-1")} }
	cases := []memoryCase{
		{judgedMemory, contender.Store, inTwo},
		{contender.Store + ", one tree branching in ten", contender.Store, inTen},
		{contender.Store + ", one tree, only the root shared", contender.Store, rootOnly},
		{contender.Store + ", a tree each", contender.Store, ownTree},
		{contender.Redislock + ", one key", contender.Redislock, inTwo},
		{contender.ObtainMulti + ", a tree each", contender.ObtainMulti, ownTree},
	}
	rows := make([]string, len(cases))
	for i, c := range cases {
		rows[i] = c.row
	}
	rounds := env.Plan.MemoryRounds
	samples := stats.NewSamples(rounds, len(cases))
	err := stats.Turns(ctx, rounds, 1, len(cases), func(round, i int) error {
		bytes, err := perLock(ctx, env, cases[i])
		samples.Add(round, i, bytes)
		return err
	})
	if err != nil {
		return result{}, err
	}
	title := fmt.Sprintf("depth %d, %d locks held: bytes per lock", memoryDepth, env.Plan.MemoryLocks)
	t := report.NewTable("bytes", title, "bytes", contender.Redislock+", one key", rows, samples.Medians())
	judged, _ := t.Row(judgedMemory)
	return result{
		tables: []report.Table{t},
		targets: []report.Target{{
			ID: "bytes-15", What: fmt.Sprintf("bytes per held lock, depth %d, upper levels shared", memoryDepth),
			Relation: report.AtMost, Limit: 1600, Unit: "bytes", Measured: stats.SpreadOf(judged.Rounds),
		}},
		notes: []string{
			"bytes are the sum of MEMORY USAGE of all keys, over all their elements",
			"judged where every node has two children, the least sharing that a plan with suites inside suites has: about two nodes of its own per lock",
		},
	}, nil
}

// perLock takes the locks, and returns the memory of one of them in bytes.
func perLock(ctx context.Context, env *Env, c memoryCase) (_ float64, err error) {
	f, err := openField(ctx, env, "memory", contender.Only(contender.Redis(), c.contender))
	if err != nil {
		return 0, err
	}
	defer closeField(ctx, f, &err)
	n := env.Plan.MemoryLocks
	if err := hold(ctx, f.open[0], n, c.at); err != nil {
		return 0, fmt.Errorf("%s: %w", c.row, err)
	}
	bytes, err := redisserver.Memory(ctx, env.Admin, f.at.Prefix)
	if err == nil && bytes == 0 {
		err = errors.New("no keys were found")
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.row, err)
	}
	return float64(bytes) / float64(n), nil
}
