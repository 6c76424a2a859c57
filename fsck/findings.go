package fsck

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// problems reports what is wrong: first row by row, then what concerns several rows. Each check
// goes in the order of keys.
func (f *forest) problems(report func(Problem) error) error {
	for _, r := range f.rows {
		for _, check := range []func(*row) *Problem{f.badName, orphan, f.onCycle, tooFarDown} {
			if err := reportIf(report, check(r)); err != nil {
				return err
			}
		}
		if err := f.wrong(r, report); err != nil {
			return err
		}
	}
	for _, r := range f.leafRows {
		if err := reportIf(report, f.unfit(r)); err != nil {
			return err
		}
		if err := f.wrong(r, report); err != nil {
			return err
		}
	}
	for _, r := range f.rows {
		if err := reportIf(report, f.besideRoot(r)); err != nil {
			return err
		}
	}
	for _, t := range f.siblings() {
		if err := report(*t.problem()); err != nil {
			return err
		}
	}
	return nil
}

func reportIf(report func(Problem) error, p *Problem) error {
	if p == nil {
		return nil
	}
	return report(*p)
}

func (f *forest) badName(r *row) *Problem {
	if r.isRoot() {
		return nil
	}
	if r.nullName {
		return r.problem(BadName, "its name is NULL")
	}
	if err := f.of(r).checkName(&r.seat); err != nil {
		reason := strings.TrimPrefix(err.Error(), fmt.Sprintf("%v: ", pathlock.ErrInvalidPath))
		reason = strings.TrimPrefix(reason, fmt.Sprintf("below %q: ", pathlock.Root()))
		return r.problem(BadName, "%s", reason)
	}
	return nil
}

func orphan(r *row) *Problem {
	is, ok := map[fault]string{faultMissing: "missing", faultDeleted: "deleted", faultForeign: "in another tree"}[r.fault]
	if !ok {
		return nil
	}
	p := r.problem(Orphan, "its parent %v is %s", r.parent, is)
	p.Others = []Key{r.parent}
	return p
}

// cycleMembers is the most rows of a cycle that a report names.
const cycleMembers = 16

func (f *forest) onCycle(r *row) *Problem {
	members := f.cycles[r]
	if members == nil {
		return nil
	}
	p := r.problem(Cycle, "it is its own ancestor, in a cycle of %d rows", len(members))
	for _, m := range members[1:min(len(members), cycleMembers)] {
		p.Others = append(p.Others, m.key)
	}
	return p
}

func tooFarDown(r *row) *Problem {
	if r.state != tooDeep {
		return nil
	}
	return r.problem(TooDeep, "more names lead to it than a path can have")
}

func (f *forest) besideRoot(r *row) *Problem {
	root := f.roots[r.tree]
	if root == nil || r == root || !r.isTop() {
		return nil
	}
	p := r.problem(BesideRoot, "it has no parent, and the tree has the root row %v", root.key)
	p.Others = []Key{root.key}
	return p
}

// twin is a row that has the name of a sibling with a smaller key.
type twin struct {
	row, first *row
	// kind is [Duplicate], or [Lookalike] if only the database treats the names as equal.
	kind Kind
}

// siblings returns the rows that have the name of a sibling, in the order of their keys.
func (f *forest) siblings() (twins []twin) {
	first := make(map[slot]*row, len(f.rows))
	for _, r := range f.rows {
		if r.nullName || r.isRoot() {
			continue
		}
		at := f.slot(&r.seat)
		switch {
		case first[at] != nil:
			twins = append(twins, twin{r, first[at], Duplicate})
			continue
		case f.alike[r] != nil:
			twins = append(twins, twin{r, f.alike[r], Lookalike})
		}
		first[at] = r
	}
	return twins
}

// problem describes the row's problem.
func (t twin) problem() *Problem {
	p := t.row.problem(Duplicate, "its sibling %v has the same name", t.first.key)
	if t.kind == Lookalike {
		p = t.row.problem(Lookalike, "to the collation, its name equals that of its sibling %v, %q", t.first.key, t.first.name)
	}
	p.Others = []Key{t.first.key}
	return p
}
