package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

type lsCommand struct {
	Tree namedTree `arg:"" optional:"" help:"Tree: its namespace and id, such as testplan/plan-001, as ls shows it." placeholder:"TREE"`
	lockStore
	JSON bool `help:"Write one JSON object per line." group:"Output:"`
}

// Help is the detailed help of the command.
func (*lsCommand) Help() string {
	return `Without a tree, it lists the trees in which somebody holds or waits. With a tree, it lists who holds what there, and who waits for whom.

Examples:

    export PATHLOCK_LOCKS=redis://127.0.0.1:6379/0
    pathlock ls
    pathlock ls testplan/plan-001

The list shows the beginning of a holder's owner, which release accepts. Paths are folded: names that differ only in case are one name to locks.
All times are by the store's clock.

Exit codes: 0, 8 if the lock store does not answer, or not for one of the trees, and 16 if the command line is invalid.

--json writes one object per line. Its "type" is tree, holder or waiter.`
}

// treeLine is a tree in JSON.
type treeLine struct {
	Namespace string `json:"namespace"`
	Tree      string `json:"tree"`
	Holders   int    `json:"holders"`
	Waiters   int    `json:"waiters"`
	// HeldSince and WaitingSince are of the oldest hold and the oldest waiter.
	HeldSince    *time.Time `json:"held_since,omitempty"`
	WaitingSince *time.Time `json:"waiting_since,omitempty"`
}

// Run implements the command.
func (c *lsCommand) Run(ctx context.Context, out *output) error {
	locker, end, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer end()
	all, failed := look(ctx, locker, c.Tree.Tree)
	all = slices.DeleteFunc(all, func(s pathlock.Snapshot) bool { return s.Now.IsZero() })
	if len(all) == 0 && failed != nil {
		return failed
	}
	switch {
	case c.JSON:
		for _, s := range all {
			out.object(typed{"tree", treeLine{s.Tree.Namespace(), s.Tree.ID(), len(s.Holders), len(s.Waiters), oldest(s.Holders), oldest(s.Waiters)}})
			if c.Tree.IsZero() {
				continue
			}
			eachEntry(s, func(kind string, e pathlock.Entry, waitsFor []pathlock.Blocking) {
				out.object(newHoldLine(kind, s.Tree, e, waitsFor))
			})
		}
	case !c.Tree.IsZero():
		out.text(snapshotText(all[0])...)
	default:
		out.text(treesText(all)...)
	}
	return failed
}

func lookAt(ctx context.Context, locker *pathlock.Locker, tree pathlock.Tree) (pathlock.Snapshot, error) {
	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		return snapshot, failed("looking at "+nameOf(tree), err)
	}
	return snapshot, nil
}

// look returns a snapshot of a tree or, if none is named, of each tree, in the order of their
// names, and the errors about trees that cannot be looked at, such as one with a damaged record.
// The snapshot of such a tree has no time.
func look(ctx context.Context, locker *pathlock.Locker, tree pathlock.Tree) (all []pathlock.Snapshot, err error) {
	if !tree.IsZero() {
		snapshot, err := lookAt(ctx, locker, tree)
		if err != nil {
			return nil, err
		}
		return []pathlock.Snapshot{snapshot}, nil
	}
	trees, err := locker.Trees(ctx)
	if err != nil {
		return nil, failed("listing the trees", err)
	}
	slices.SortFunc(trees, func(a, b pathlock.Tree) int {
		return cmp.Or(strings.Compare(a.Namespace(), b.Namespace()), strings.Compare(a.ID(), b.ID()))
	})
	for _, tree := range trees {
		snapshot, wrong := lookAt(ctx, locker, tree)
		if wrong != nil {
			err = errors.Join(err, wrong)
			if _, down := locker.Trees(ctx); down != nil {
				return nil, err // it is the store that does not answer
			}
			all = append(all, pathlock.Snapshot{Tree: tree})
		}
		if len(snapshot.Holders)+len(snapshot.Waiters) > 0 { // it may have been left meanwhile
			all = append(all, snapshot)
		}
	}
	return all, err
}

// oldest returns the earliest beginning, nil if there is none.
func oldest(holds []pathlock.Entry) *time.Time {
	if len(holds) == 0 {
		return nil
	}
	first := slices.MinFunc(holds, func(a, b pathlock.Entry) int { return a.Since.Compare(b.Since) }).Since.UTC()
	return &first
}

// treesText is the list of trees for people.
func treesText(all []pathlock.Snapshot) []string {
	if len(all) == 0 {
		return []string{"nobody holds or waits for anything"}
	}
	g := grid{}
	g.add("TREE", "HOLD", "WAIT", "HELD FOR", "WAITING FOR")
	for _, s := range all {
		span := func(since *time.Time) string {
			if since == nil {
				return "-"
			}
			return lasting(s.Now.Sub(*since))
		}
		g.add(nameOf(s.Tree), fmt.Sprint(len(s.Holders)), fmt.Sprint(len(s.Waiters)), span(oldest(s.Holders)), span(oldest(s.Waiters)))
	}
	return g.lines()
}

// snapshotText shows a tree to people.
func snapshotText(s pathlock.Snapshot) []string {
	var holders, waiters grid
	holders.add("HOLDER", "HOLDS", "FOR", "ENDS IN", "FENCE", "WHAT")
	waiters.add("WAITER", "WANTS", "FOR", "GIVES UP IN", "WAITS FOR", "WHAT")
	eachEntry(s, func(kind string, e pathlock.Entry, waitsFor []pathlock.Blocking) {
		g, last := &holders, fmt.Sprint(e.Fence)
		if kind == "waiter" {
			g, last = &waiters, blockerNames(waitsFor)
		}
		g.add(shortOf(e.Owner), wanted(e.Gate, e.Claims), lasting(s.Now.Sub(e.Since)), remaining(e.Until.Sub(s.Now)), last, about(e))
	})
	lines := []string{fmt.Sprintf("%s: %d hold, %d wait", nameOf(s.Tree), len(s.Holders), len(s.Waiters))}
	for _, g := range []grid{holders, waiters} {
		if len(g.rows) > 1 {
			lines = append(lines, g.lines()...)
		}
	}
	return lines
}

// remaining returns how much longer a request will wait, or a lock will last.
func remaining(d time.Duration) string {
	if d > pathlock.Forever/2 {
		return "never"
	}
	return lasting(d)
}
