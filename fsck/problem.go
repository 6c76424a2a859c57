package fsck

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Kind is the kind of a problem.
type Kind string

// The kinds of problems.
const (
	// BadName: no path can have the name. It is NULL, empty, "." or "..", contains a slash, the
	// separator of the path's form or a control character, is not UTF-8, or is longer than
	// [pathlock.MaxNameBytes]. The rows below have no right path.
	BadName Kind = "bad-name"
	// Orphan: the parent is missing, deleted, or in another tree. The rows below have no right
	// path.
	Orphan Kind = "orphan"
	// Cycle: the row is its own ancestor. A check reports each cycle once, for the row with the
	// smallest key.
	Cycle Kind = "cycle"
	// TooDeep: the path would have more than [pathlock.MaxDepth] names. A repair leaves the row as
	// it is.
	TooDeep Kind = "too-deep"
	// WrongPath: the path is not the parent's right path + "/" + name, in the column's form.
	WrongPath Kind = "wrong-path"
	// WrongIDPath: the id path is not the parent's right id path + "/" + the row's key, in the
	// column's form.
	WrongIDPath Kind = "wrong-id-path"
	// WrongDepth: the depth is not that of the right path.
	WrongDepth Kind = "wrong-depth"
	// PathTooLong: the path is wrong, and the right one does not fit into the column. A repair
	// leaves the path as it is.
	PathTooLong Kind = "path-too-long"
	// BesideRoot: the row is at the top of a tree with a root row, which must be alone there. Of
	// several root rows, the one with the smallest key counts.
	BesideRoot Kind = "beside-root"
	// Duplicate: a sibling with a smaller key has the same name.
	Duplicate Kind = "duplicate"
	// Lookalike: a sibling with a smaller key has another name that the collation of the name
	// column treats as equal, such as "a" and "A", or "a" and "a ".
	Lookalike Kind = "lookalike"
)

// Problem is one thing that is wrong with one row.
type Problem struct {
	Kind Kind `json:"problem"`
	// Leaves is the table of a leaf, "" for a row of the table itself.
	Leaves string `json:"leaves,omitempty"`
	Tree   Key    `json:"tree"`
	ID     Key    `json:"id"`
	// Others are the other rows of the problem: an orphan's parent, the next members of a cycle (at
	// most 15), the sibling with the same name, or the root row.
	Others []Key  `json:"others,omitempty"`
	Name   string `json:"name"`
	// Is is the current path, nil for NULL. Want is the right path, nil if there is none or the
	// problem is not about the path. For [WrongIDPath], both are id paths, for [WrongDepth] depths.
	Is   *string `json:"is"`
	Want *string `json:"want"`
	// Detail explains the problem to people.
	Detail string `json:"detail"`
}

// String writes the problem for people.
func (p Problem) String() string {
	text := fmt.Sprintf("%s: tree %v, row %v%s %q: %s", p.Kind, p.Tree, p.ID, ofLeaves(p.Leaves), p.Name, p.Detail)
	if p.Want != nil {
		is := "NULL"
		if p.Is != nil {
			is = fmt.Sprintf("%q", *p.Is)
		}
		text += fmt.Sprintf(" (is %s, should be %q)", is, *p.Want)
	}
	return text
}

// ofLeaves says in which table a leaf is.
func ofLeaves(table string) string {
	if table == "" {
		return ""
	}
	return " of " + table
}

// Summary is the outcome of a check.
type Summary struct {
	// Rows is the number of live rows that were checked, with the leaves.
	Rows int64 `json:"rows"`
	// Problems counts the problems by kind.
	Problems map[Kind]int64 `json:"problems"`
}

// Total is the number of problems.
func (s Summary) Total() int64 {
	var n int64
	for _, count := range s.Problems {
		n += count
	}
	return n
}

// problems reports what is wrong: first row by row, then what concerns several rows. Each check
// takes the rows in the order of keys.
func (f *forest) problems(report func(Problem) error) (err error) {
	tell := func(p *Problem) {
		if p != nil && err == nil {
			err = report(*p)
		}
	}
	for _, r := range f.rows {
		for _, check := range []func(*row) *Problem{f.badName, orphan, f.onCycle, tooFarDown} {
			tell(check(r))
		}
		f.wrong(r, tell)
	}
	for _, r := range f.leafRows {
		tell(f.unfit(r))
		f.wrong(r, tell)
	}
	for _, r := range f.rows {
		tell(f.besideRoot(r))
	}
	for _, t := range f.twins() {
		tell(t.problem())
	}
	return err
}

func (f *forest) badName(r *row) *Problem {
	if r.isRoot() {
		return nil
	}
	if r.nullName {
		return r.problem(BadName, nil, "its name is NULL")
	}
	if err := f.of(r).checkName(&r.seat); err != nil {
		reason := strings.TrimPrefix(err.Error(), fmt.Sprintf("%v: ", pathlock.ErrInvalidPath))
		reason = strings.TrimPrefix(reason, fmt.Sprintf("below %q: ", pathlock.Root()))
		return r.problem(BadName, nil, "%s", reason)
	}
	return nil
}

func orphan(r *row) *Problem {
	is, ok := map[fault]string{faultMissing: "missing", faultDeleted: "deleted", faultForeign: "in another tree"}[r.fault]
	if !ok {
		return nil
	}
	return r.problem(Orphan, []Key{r.parent}, "its parent %v is %s", r.parent, is)
}

// cycleMembers is the most rows of a cycle that a report names.
const cycleMembers = 16

func (f *forest) onCycle(r *row) *Problem {
	members := f.cycles[r]
	if members == nil {
		return nil
	}
	var others []Key
	for _, m := range members[1:min(len(members), cycleMembers)] {
		others = append(others, m.key)
	}
	return r.problem(Cycle, others, "it is its own ancestor, in a cycle of %s", shown.Count(len(members), "row", "rows"))
}

func tooFarDown(r *row) *Problem {
	if r.state != tooDeep {
		return nil
	}
	return r.problem(TooDeep, nil, "more names lead to it than a path can have")
}

func (f *forest) besideRoot(r *row) *Problem {
	root := f.roots[r.tree]
	if root == nil || r == root || !r.isTop() {
		return nil
	}
	return r.problem(BesideRoot, []Key{root.key}, "it has no parent, and the tree has the root row %v", root.key)
}

// twin is a row that has the name of a sibling with a smaller key.
type twin struct {
	row, first *row
	// kind is [Duplicate], or [Lookalike] if only the database treats the names as equal.
	kind Kind
}

// twins returns the rows that have the name of a sibling with a smaller key, in the order of keys.
func (f *forest) twins() (twins []twin) {
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
	others := []Key{t.first.key}
	if t.kind == Lookalike {
		return t.row.problem(Lookalike, others, "the collation treats its name as equal to that of its sibling %v, %q", t.first.key, t.first.name)
	}
	return t.row.problem(Duplicate, others, "its sibling %v has the same name", t.first.key)
}
