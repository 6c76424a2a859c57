package label

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
)

// Times reports whether the times of an acquisition say how long work waits or lasts. Candidates
// and observers of an election wait for as long as others lead, in perfect health.
func Times(e pathlock.Event) bool { return e.Tree.Namespace() != election.Namespace }
