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

// slot is a name below a suite.
type slot struct {
	parent int64
	name   string
}

// Check compares every row of one plan with its parent and its siblings. It returns all problems,
// ordered by kind and id. The slice is never nil.
func Check(suites []Suite, cases []Case) []Problem {
	found := []Problem{}
	add := func(problem, kind string, id int64, path, format string, args ...any) {
		found = append(found, Problem{problem, kind, id, path, fmt.Sprintf(format, args...)})
	}
	byID := make(map[int64]Suite, len(suites))
	for _, s := range suites {
		byID[s.ID] = s
	}
	first, roots := make(map[slot]int64, len(suites)), 0
	for _, s := range suites {
		if s.ParentID == nil {
			if roots++; roots > 1 {
				add(Root, "suite", s.ID, s.Path, "a second root suite")
			}
			if s.Path != "" {
				add(WrongPath, "suite", s.ID, s.Path, "the root suite's path is not empty")
			}
			continue
		}
		if parent, ok := byID[*s.ParentID]; !ok {
			add(Orphan, "suite", s.ID, s.Path, "its parent, suite %d, is not there", *s.ParentID)
		} else if want := parent.Path + "/" + s.Name; s.Path != want {
			add(WrongPath, "suite", s.ID, s.Path, "its path should be %q", want)
		}
		if inCycle(s, byID) {
			add(Cycle, "suite", s.ID, s.Path, "it is its own ancestor")
		}
		if other, taken := occupy(first, slot{*s.ParentID, s.Name}, s.ID); taken {
			add(Duplicate, "suite", s.ID, s.Path, "suite %d beside it has the same name", other)
		}
	}
	if roots == 0 {
		add(Root, "suite", 0, "", "there is no root suite")
	}
	first = make(map[slot]int64, len(cases))
	for _, c := range cases {
		if suite, ok := byID[c.SuiteID]; !ok {
			add(Orphan, "case", c.ID, c.Name, "its suite, %d, is not there", c.SuiteID)
		} else if other, taken := occupy(first, slot{c.SuiteID, c.Name}, c.ID); taken {
			add(Duplicate, "case", c.ID, suite.Path+"/"+c.Name, "case %d beside it has the same name", other)
		}
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// inCycle follows the parents of a suite upwards. It is false for one that merely lies below a
// cycle, which is left after as many steps as there are suites.
func inCycle(s Suite, byID map[int64]Suite) bool {
	at := s
	for range byID {
		above := at.ParentID
		if above == nil {
			return false
		}
		var ok bool
		if at, ok = byID[*above]; !ok {
			return false
		}
		if at.ID == s.ID {
			return true
		}
	}
	return false
}

// occupy gives a slot to a row, or returns the row that has it.
func occupy(first map[slot]int64, at slot, id int64) (other int64, taken bool) {
	if other, taken = first[at]; !taken {
		first[at] = id
	}
	return other, taken
}
