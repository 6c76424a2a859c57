package quorum

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Snapshot implements [pathlock.Store]. It shows the grants that a majority has, as far as the
// members that answer can tell, and everybody who waits in the queue of some member. Times are
// those of the first member that has the grant, by the clock of the first that answers.
func (s *store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := s.begin(); err != nil {
		return pathlock.Snapshot{}, err
	}
	defer s.running.Done()
	answers := poll(ctx, s, "snapshot of "+tree.String(), func(ctx context.Context, m *member) (pathlock.Snapshot, error) {
		return m.store.Snapshot(ctx, tree)
	})
	if answers.silent() >= s.majority {
		return pathlock.Snapshot{}, answers.unavailable(ctx)
	}
	out := pathlock.Snapshot{Tree: tree}
	for _, a := range answers.all {
		out.Fence = max(out.Fence, a.member.fenceOf(a.value.Fence))
		if out.Now.IsZero() {
			out.Now = a.value.Now
		}
	}
	out.Holders = shared(answers.all, out.Now, s.majority-answers.silent(), func(s pathlock.Snapshot) []pathlock.Entry { return s.Holders })
	for i := range out.Holders {
		if tree.Namespace() == "pathlock-store" { // whoever uses a member alone has another id
			out.Holders[i].Note += ", by a majority"
		}
	}
	out.Waiters = shared(answers.all, out.Now, 1, func(s pathlock.Snapshot) []pathlock.Entry { return s.Waiters })
	slices.SortFunc(out.Holders, func(a, b pathlock.Entry) int { return cmp.Compare(a.Fence, b.Fence) })
	return out, nil
}

// shared returns the entries that so many members have, each once, in the order of the first member
// that has it, with times as if its clock had shown now. Entries do not show the id of their grant,
// so their order distinguishes entries that look alike.
func shared(all []answer[pathlock.Snapshot], now time.Time, least int, of func(pathlock.Snapshot) []pathlock.Entry) []pathlock.Entry {
	type alike struct {
		look string
		nth  int
	}
	known := make(map[alike]*pathlock.Entry)
	members := make(map[alike]int)
	var order []alike
	for _, a := range all {
		seen := make(map[string]int)
		for _, e := range of(a.value) {
			e.Fence = a.member.fenceOf(e.Fence)
			one := alike{look: fmt.Sprintf("%q %v %q %q %v", e.Owner, e.Gate, e.Note, e.Origin, e.Claims)}
			seen[one.look]++
			one.nth = seen[one.look]
			if members[one]++; members[one] > 1 {
				known[one].Fence = max(known[one].Fence, e.Fence)
				continue
			}
			for _, at := range []*time.Time{&e.Since, &e.Until} {
				if !at.IsZero() { // as of a gate that another program took
					*at = at.Add(now.Sub(a.value.Now))
				}
			}
			known[one], order = &e, append(order, one)
		}
	}
	entries := []pathlock.Entry{}
	for _, one := range order {
		if members[one] >= least {
			entries = append(entries, *known[one])
		}
	}
	return entries
}

// Trees implements [pathlock.Store]. If too few members list a tree to tell, as after a release
// that one of them has missed, its [pathlock.Snapshot] does: that is one more question per tree.
func (s *store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	answers := poll(ctx, s, "list the trees", func(ctx context.Context, m *member) ([]pathlock.Tree, error) { return m.store.Trees(ctx) })
	if answers.silent() >= s.majority {
		return nil, answers.unavailable(ctx)
	}
	members := make(map[pathlock.Tree]int)
	for _, a := range answers.all {
		for _, tree := range a.value {
			members[tree]++
		}
	}
	var trees []pathlock.Tree
	for tree, n := range members {
		if n < s.majority-answers.silent() {
			snapshot, err := s.Snapshot(ctx, tree)
			if err != nil {
				return nil, err
			}
			if len(snapshot.Holders) == 0 && len(snapshot.Waiters) == 0 {
				continue
			}
		}
		trees = append(trees, tree)
	}
	return trees, nil
}
