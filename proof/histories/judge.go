package histories

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// seed is that of the hashes.
var seed = maphash.MakeSeed()

// model is the tree for porcupine.
func model(root int64) porcupine.Model {
	return porcupine.Model{
		Init:  func() any { return newTree(root) },
		Step:  func(state, in, out any) (bool, any) { return state.(*tree).step(in.(input), out.(output)) },
		Equal: func(a, b any) bool { return a.(*tree).text == b.(*tree).text },
		Hash:  func(state any) uint64 { return maphash.String(seed, state.(*tree).text) },
	}
}

// longest is how long porcupine may think about a history.
const longest = time.Minute

// check has porcupine judge a history, without the refusals that are possible at any time.
func (p *plan) check(history []porcupine.Operation) porcupine.CheckResult {
	history = slices.DeleteFunc(slices.Clone(history), func(op porcupine.Operation) bool {
		return slices.Contains(contention, op.Output.(output).refused)
	})
	end := int64(time.Since(p.began))
	over := porcupine.Operation{Input: input{do: "end"}, Call: end, Output: output{}, Return: end}
	return porcupine.CheckOperationsTimeout(model(p.root), append(slices.Clip(history), over), longest)
}

// judge fails the test if the history is not that of a tree, and prints the shortest beginning that
// is wrong. It reports whether porcupine came to a verdict in time: on a busy machine, clients give
// up so often that there are too many possible orders.
func (p *plan) judge(t *testing.T) (decided bool) {
	t.Helper()
	for _, what := range p.strange {
		t.Errorf("plan %d: %s", p.number, what)
	}
	verdict := p.check(p.history)
	switch verdict {
	case porcupine.Unknown:
		t.Logf("plan %d: %d requests take too long to judge, and do not count", p.number, len(p.history))
	case porcupine.Illegal:
		t.Errorf("plan %d is no tree's history:\n%s", p.number, written(p.smallest()))
	}
	return verdict != porcupine.Unknown
}

// smallest returns the shortest wrong beginning of a history. A request without an answer in it may
// have happened or not.
func (p *plan) smallest() (beginning []porcupine.Operation) {
	ends := make([]int64, 0, len(p.history))
	for _, op := range p.history {
		ends = append(ends, op.Return)
	}
	slices.Sort(ends)
	until := func(end int64) (cut []porcupine.Operation) {
		for _, op := range p.history {
			in := op.Input.(input)
			switch {
			case op.Return <= end:
				cut = append(cut, op)
			case op.Call <= end && !in.reads():
				op.Output, op.Return = output{unknown: true}, math.MaxInt64
				cut = append(cut, op)
			}
		}
		return cut
	}
	low, _ := slices.BinarySearchFunc(ends, true, func(end int64, _ bool) int {
		if p.check(until(end)) == porcupine.Illegal {
			return 0
		}
		return -1
	})
	return until(ends[min(low, len(ends)-1)])
}

// written returns a history as text, in the order of its answers.
func written(history []porcupine.Operation) string {
	var text strings.Builder
	slices.SortStableFunc(history, func(a, b porcupine.Operation) int {
		return cmp.Or(cmp.Compare(a.Return, b.Return), cmp.Compare(a.Call, b.Call))
	})
	for _, op := range history {
		in, out := op.Input.(input), op.Output.(output)
		from, to := time.Duration(op.Call).Round(time.Microsecond*10), "?"
		if !out.unknown {
			to = time.Duration(op.Return).Round(time.Microsecond * 10).String()
		}
		fmt.Fprintf(&text, "  %v to %s, client %d: %+v: %v", from, to, op.ClientId, in, out)
		if op.Metadata != nil {
			fmt.Fprintf(&text, "   [%v]", op.Metadata)
		}
		text.WriteByte('\n')
	}
	return text.String()
}
