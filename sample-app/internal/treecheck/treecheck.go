// Package treecheck is an independent checker. It compares the rows of a plan's tree with each
// other, and shares no path arithmetic with package fsck or the code that writes the rows.
package treecheck

import (
	"cmp"
	"fmt"
	"slices"
)

// Suite is one live row of the tree.
type Suite struct {
	ID       int64
	ParentID *int64
	Name     string
	Path     string
}

// Case is one live case.
type Case struct {
	ID      int64
	SuiteID int64
	Name    string
}

// The kinds of problems.
const (
	// WrongPath: the path is not the parent's path + "/" + name.
	WrongPath = "wrong-path"
	// Orphan: the parent of a suite, or the suite of a case, does not exist.
	Orphan = "orphan"
	// Cycle: the suite is its own ancestor.
	Cycle = "cycle"
	// Duplicate: a sibling has the same name.
	Duplicate = "duplicate-name"
	// Root: the plan has no root suite, or more than one.
	Root = "root"
)

// Problem is one fault of one row.
type Problem struct {
	Problem string `json:"problem"`
	// Kind is "suite" or "case".
	Kind   string `json:"kind"`
	ID     int64  `json:"id"`
	Path   string `json:"path"`
	Detail string `json:"detail"`
}

// Check compares every row of one plan with its parent and its siblings. It returns all problems,
// ordered by kind and id. The slice is never nil.
func Check(suites []Suite, cases []Case) []Problem {
	c := checker{byID: make(map[int64]Suite, len(suites)), found: []Problem{}}
	for _, s := range suites {
		c.byID[s.ID] = s
	}
	c.roots(suites)
	c.parents(suites)
	c.cycles(suites)
	c.siblings(suites)
	c.cases(cases)
	slices.SortStableFunc(c.found, func(a, b Problem) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return c.found
}

type checker struct {
	byID  map[int64]Suite
	found []Problem
}

func (c *checker) suite(problem string, s Suite, format string, args ...any) {
	c.found = append(c.found, Problem{problem, "suite", s.ID, s.Path, fmt.Sprintf(format, args...)})
}

func (c *checker) roots(suites []Suite) {
	roots := 0
	for _, s := range suites {
		if s.ParentID != nil {
			continue
		}
		if roots++; roots > 1 {
			c.suite(Root, s, "a second root suite")
		}
		if s.Path != "" {
			c.suite(WrongPath, s, "the root suite's path is not empty")
		}
	}
	if roots == 0 {
		c.suite(Root, Suite{}, "there is no root suite")
	}
}

func (c *checker) parents(suites []Suite) {
	for _, s := range suites {
		if s.ParentID == nil {
			continue
		}
		parent, ok := c.byID[*s.ParentID]
		if !ok {
			c.suite(Orphan, s, "its parent, suite %d, is not there", *s.ParentID)
			continue
		}
		if want := parent.Path + "/" + s.Name; s.Path != want {
			c.suite(WrongPath, s, "its path should be %q", want)
		}
	}
}

// cycles follows the parents of each suite upwards. It reports the suites in a cycle, and none that
// merely lies below one.
func (c *checker) cycles(suites []Suite) {
	const onTheWay, done = 1, 2
	state := make(map[int64]int, len(suites))
	for _, s := range suites {
		var way []int64
		at, ok := s, true
		for ok && state[at.ID] == 0 {
			state[at.ID] = onTheWay
			way = append(way, at.ID)
			if at.ParentID == nil {
				break
			}
			at, ok = c.byID[*at.ParentID]
		}
		if i := slices.Index(way, at.ID); ok && at.ParentID != nil && i >= 0 && state[at.ID] == onTheWay {
			for _, id := range way[i:] {
				c.suite(Cycle, c.byID[id], "it is its own ancestor")
			}
		}
		for _, id := range way {
			state[id] = done
		}
	}
}

// slot is a name below a suite.
type slot struct {
	parent int64
	name   string
}

func (c *checker) siblings(suites []Suite) {
	first := make(map[slot]int64, len(suites))
	for _, s := range suites {
		if s.ParentID == nil {
			continue
		}
		if other, taken := occupy(first, slot{*s.ParentID, s.Name}, s.ID); taken {
			c.suite(Duplicate, s, "suite %d beside it has the same name", other)
		}
	}
}

func (c *checker) cases(cases []Case) {
	first := make(map[slot]int64, len(cases))
	for _, k := range cases {
		suite, ok := c.byID[k.SuiteID]
		if !ok {
			c.found = append(c.found, Problem{Orphan, "case", k.ID, k.Name, fmt.Sprintf("its suite, %d, is not there", k.SuiteID)})
			continue
		}
		if other, taken := occupy(first, slot{k.SuiteID, k.Name}, k.ID); taken {
			c.found = append(c.found, Problem{Duplicate, "case", k.ID, suite.Path + "/" + k.Name, fmt.Sprintf("case %d beside it has the same name", other)})
		}
	}
}

// occupy gives a slot to a row, or returns the row that has it.
func occupy(first map[slot]int64, at slot, id int64) (other int64, taken bool) {
	if other, taken = first[at]; !taken {
		first[at] = id
	}
	return other, taken
}
