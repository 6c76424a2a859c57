package section

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// The control is not judged, and neither is one bad round.
func TestScriptsAreJudgedByTheWorstStep(t *testing.T) {
	table := report.NewTable("p99", "", "µs", "", []string{"short", "long", "once interrupted", controlStep}, [][]float64{
		{10, 20, 30}, {1300, 1100, 1200}, {40, 9000, 50}, {5000, 5000, 5000},
	})
	got := scriptTarget("scripts-p99", "99th percentile", table)
	if want := (stats.Spread{Median: 1200, Min: 1100, Low: 1150, High: 1250, Max: 1300}); got.Measured != want {
		t.Errorf("judged is %+v, want %+v, the long step's", got.Measured, want)
	}
	if want := "99th percentile, where it is greatest: long"; got.What != want {
		t.Errorf("it says %q, want %q", got.What, want)
	}
	if judged := report.Judge(got); judged.Reached || judged.MissedBy != 0.2 {
		t.Errorf("1200 µs are judged %+v, want missed by a fifth", judged)
	}
}

// The set is the largest: the store refuses one more claim.
func TestTheLargestClaimSetIsAsLargeAsTheStoreAllows(t *testing.T) {
	for _, depth := range []int{shallow, scriptsDepth} {
		parent, leaves, err := wide(depth)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(pathlock.Normalize(leaves...)); got != redisstore.DefaultMaxClaims {
			t.Errorf("depth %d: %d nodes are claimed, want %d", depth, got, redisstore.DefaultMaxClaims)
		}
		if leaf := leaves[len(leaves)-1].Path; leaf.Depth() != depth || parent.Depth() != depth-1 {
			t.Errorf("the leaf %s of %s is not at depth %d", leaf, parent, depth)
		}
	}
}
