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
	look, end, err := c.look(ctx, c.Tree.Tree)
	if err != nil {
		return err
	}
	defer end()
	all, failed := look(ctx)
	all = slices.DeleteFunc(all, func(s pathlock.Snapshot) bool { return s.Now.IsZero() })
	if len(all) == 0 && failed != nil {
		return failed
	}
	switch {
	case c.JSON:
		for _, s := range all {
			snapshotLines(out, s, !c.Tree.IsZero())
		}
	case !c.Tree.IsZero():
		out.text(snapshotText(all[0])...)
	default:
		out.text(treesText(all)...)
	}
	return failed
}

// look returns a function that returns a snapshot of a tree or, if none is named, of each tree. The
// caller calls end.
func (s lockStore) look(ctx context.Context, tree pathlock.Tree) (look func(context.Context) ([]pathlock.Snapshot, error), end func(), err error) {
	locker, end, err := s.open(ctx, true)
	return func(ctx context.Context) ([]pathlock.Snapshot, error) {
		if tree.IsZero() {
			return lookAll(ctx, locker)
		}
		snapshot, err := lookAt(ctx, locker, tree)
		if err != nil {
			return nil, err
		}
		return []pathlock.Snapshot{snapshot}, nil
	}, end, err
}

func lookAt(ctx context.Context, locker *pathlock.Locker, tree pathlock.Tree) (pathlock.Snapshot, error) {
	snapshot, err := locker.Snapshot(ctx, tree)
	if err != nil {
		return snapshot, failed("looking at "+nameOf(tree), err)
	}
	return snapshot, nil
}

// lookAll returns a snapshot of each tree, in the order of their names, and the errors about trees
// that cannot be looked at, such as one with a damaged record. The snapshot of such a tree has no
// time.
func lookAll(ctx context.Context, locker *pathlock.Locker) (all []pathlock.Snapshot, err error) {
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

func newTreeLine(s pathlock.Snapshot) treeLine {
	return treeLine{
		Namespace: s.Tree.Namespace(), Tree: s.Tree.ID(), Holders: len(s.Holders), Waiters: len(s.Waiters),
		HeldSince: oldest(s.Holders), WaitingSince: oldest(s.Waiters),
	}
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

// snapshotLines writes a tree in JSON and, if wanted, who holds and waits there.
func snapshotLines(out *output, s pathlock.Snapshot, whole bool) {
	out.object(typed{"tree", newTreeLine(s)})
	if whole {
		eachEntry(s, func(kind string, e pathlock.Entry, waitsFor []pathlock.Blocking) {
			out.object(newHoldLine(kind, s.Tree, e, waitsFor))
		})
	}
}

// snapshotText shows a tree to people.
func snapshotText(s pathlock.Snapshot) []string {
	lines := []string{fmt.Sprintf("%s: %d hold, %d wait", nameOf(s.Tree), len(s.Holders), len(s.Waiters))}
	if len(s.Holders) > 0 {
		g := grid{}
		g.add("HOLDER", "HOLDS", "FOR", "ENDS IN", "FENCE", "WHAT")
		for _, h := range s.Holders {
			g.add(shortOf(h.Owner), wanted(h.Gate, h.Claims), lasting(s.Now.Sub(h.Since)), remaining(h.Until.Sub(s.Now)), fmt.Sprint(h.Fence), about(h))
		}
		lines = append(lines, g.lines()...)
	}
	if len(s.Waiters) > 0 {
		g := grid{}
		g.add("WAITER", "WANTS", "FOR", "GIVES UP IN", "WAITS FOR", "WHAT")
		blockers := s.Blockers()
		for i, w := range s.Waiters {
			g.add(shortOf(w.Owner), wanted(w.Gate, w.Claims), lasting(s.Now.Sub(w.Since)), remaining(w.Until.Sub(s.Now)), blockerNames(blockers[i]), about(w))
		}
		lines = append(lines, g.lines()...)
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
