package quorum

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Snapshot implements [pathlock.Store]. It shows the grants that a majority has, as far as the
// members that answer can tell, and everybody who waits in the queue of some member. Times are
// those of the first member that has the grant, by the clock of the first that answers.
func (s *Store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
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
	var now time.Time
	var fence uint64
	var holders, waiters shared
	for _, a := range answers.all {
		fence = max(fence, a.member.fenceOf(a.value.Fence))
		if now.IsZero() {
			now = a.value.Now
		}
		behind := now.Sub(a.value.Now)
		holders.add(a.member, a.value.Holders, behind)
		waiters.add(a.member, a.value.Waiters, behind)
	}
	out := pathlock.Snapshot{Tree: tree, Now: now, Fence: fence, Holders: holders.by(s.majority - answers.silent()), Waiters: waiters.by(1)}
	slices.SortFunc(out.Holders, func(a, b pathlock.Entry) int { return cmp.Compare(a.Fence, b.Fence) })
	return out, nil
}

// shared are the entries of all members, each once, in the order of the first member that has it.
// Entries do not tell the id of their grant: those that look alike are told apart by their order.
type shared struct {
	entries []pathlock.Entry
	members []int            // how many have the entry
	alike   map[string][]int // indexes of entries, by what they have in common at all members
}

// add counts the entries of one more member, whose clock is behind.
func (s *shared) add(m *member, entries []pathlock.Entry, behind time.Duration) {
	if s.alike == nil {
		s.alike = make(map[string][]int)
	}
	seen := make(map[string]int)
	for _, e := range entries {
		e.Fence = m.fenceOf(e.Fence)
		look := fmt.Sprintf("%q %v %q %q %v", e.Owner, e.Gate, e.Note, e.Origin, e.Claims)
		n := seen[look]
		if seen[look]++; n < len(s.alike[look]) {
			i := s.alike[look][n]
			s.members[i]++
			s.entries[i].Fence = max(s.entries[i].Fence, e.Fence)
			continue
		}
		for _, at := range []*time.Time{&e.Since, &e.Until} {
			if !at.IsZero() { // as of a gate that another program took
				*at = at.Add(behind)
			}
		}
		s.alike[look] = append(s.alike[look], len(s.entries))
		s.entries, s.members = append(s.entries, e), append(s.members, 1)
	}
}

// by returns the entries that so many members have.
func (s *shared) by(members int) []pathlock.Entry {
	some := []pathlock.Entry{}
	for i, e := range s.entries {
		if s.members[i] >= members {
			some = append(some, e)
		}
	}
	return some
}

// Trees implements [pathlock.Store]: the trees that some member lists.
func (s *Store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	answers := poll(ctx, s, "list the trees", func(ctx context.Context, m *member) ([]pathlock.Tree, error) { return m.store.Trees(ctx) })
	if answers.silent() >= s.majority {
		return nil, answers.unavailable(ctx)
	}
	listed := make(map[pathlock.Tree]bool)
	for _, a := range answers.all {
		for _, tree := range a.value {
			listed[tree] = true
		}
	}
	return slices.Collect(maps.Keys(listed)), nil
}
