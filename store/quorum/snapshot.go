package quorum

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// Snapshot implements [pathlock.Store]. It shows the grants that a majority has, as far as the
// members that answer can tell, and everybody who waits in the queue of some member. Times are
// those of the first member that has the grant.
func (s *Store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := s.begin(); err != nil {
		return pathlock.Snapshot{}, err
	}
	defer s.running.Done()
	p := poll[pathlock.Snapshot]{store: s, operation: "snapshot of " + tree.String()}
	answers := p.ask(ctx, func(ctx context.Context, m *member) (pathlock.Snapshot, error) { return m.store.Snapshot(ctx, tree) })
	if answers.silent() >= s.majority {
		return pathlock.Snapshot{}, answers.unavailable(ctx)
	}
	out := pathlock.Snapshot{Tree: tree, Holders: []pathlock.Entry{}, Waiters: []pathlock.Entry{}}
	for _, a := range answers.all {
		out.Fence = max(out.Fence, a.member.fenceOf(a.value.Fence))
	}
	for _, h := range s.same(answers, func(v pathlock.Snapshot) []pathlock.Entry { return v.Holders }) {
		if h.members >= s.majority-answers.silent() {
			out.Holders = append(out.Holders, h.Entry)
		}
	}
	for _, h := range s.same(answers, func(v pathlock.Snapshot) []pathlock.Entry { return v.Waiters }) {
		out.Waiters = append(out.Waiters, h.Entry)
	}
	slices.SortFunc(out.Holders, func(a, b pathlock.Entry) int { return cmp.Compare(a.Fence, b.Fence) })
	return out, nil
}

// shared is an entry of a snapshot that so many members have.
type shared struct {
	pathlock.Entry
	members int
}

// same returns the entries of all members, each once, in the order of the first member that has it.
// Entries do not tell the id of their grant: those that look alike are told apart by their order,
// the latest of one member being that of another.
func (s *Store) same(answers answers[pathlock.Snapshot], of func(pathlock.Snapshot) []pathlock.Entry) []*shared {
	var all []*shared
	alike := make(map[string][]*shared) // the latest first
	for _, a := range answers.all {
		seen := make(map[string]int)
		first := len(all)
		for _, h := range slices.Backward(of(a.value)) {
			look := likeness(h)
			i := seen[look]
			seen[look]++
			h.Fence = a.member.fenceOf(h.Fence)
			if i < len(alike[look]) {
				known := alike[look][i]
				known.members++
				known.Fence = max(known.Fence, h.Fence)
				continue
			}
			one := &shared{h, 1}
			alike[look] = append(alike[look], one)
			all = append(all, one)
		}
		slices.Reverse(all[first:])
	}
	return all
}

// likeness is what entries of one request have in common at all members.
func likeness(h pathlock.Entry) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%q %v %q", h.Owner, h.Gate, h.Note)
	for _, c := range h.Claims {
		fmt.Fprintf(&s, " %v %q", c.Mode, c.Path.String())
	}
	return s.String()
}

// Trees implements [pathlock.Store]: the trees that a majority lists, as far as the members that
// answer can tell.
func (s *Store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	p := poll[[]pathlock.Tree]{store: s, operation: "list the trees"}
	answers := p.ask(ctx, func(ctx context.Context, m *member) ([]pathlock.Tree, error) { return m.store.Trees(ctx) })
	if answers.silent() >= s.majority {
		return nil, answers.unavailable(ctx)
	}
	listed := make(map[pathlock.Tree]int)
	for _, a := range answers.all {
		for _, tree := range a.value {
			listed[tree]++
		}
	}
	var trees []pathlock.Tree
	for tree, members := range listed {
		if members >= s.majority-answers.silent() {
			trees = append(trees, tree)
		}
	}
	return trees, nil
}
