package treecheck_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/treecheck"
)

// suite makes a row; parent 0 means none.
func suite(id, parent int64, name, path string) treecheck.Suite {
	s := treecheck.Suite{ID: id, Name: name, Path: path}
	if parent != 0 {
		s.ParentID = &parent
	}
	return s
}

func TestCheck(t *testing.T) {
	root := suite(1, 0, "", "")
	tests := []struct {
		what   string
		suites []treecheck.Suite
		cases  []treecheck.Case
		// want has one "problem kind id" for each problem.
		want []string
	}{
		{what: "a root alone", suites: []treecheck.Suite{root}},
		{
			what:   "a sound tree, in any order",
			suites: []treecheck.Suite{suite(3, 2, "b", "/a/b"), root, suite(2, 1, "a", "/a"), suite(4, 1, "b", "/b")},
			cases:  []treecheck.Case{{ID: 1, SuiteID: 3, Name: "x"}, {ID: 2, SuiteID: 4, Name: "x"}},
		},
		{what: "no root", want: []string{"root suite 0"}},
		{what: "two roots", suites: []treecheck.Suite{root, suite(2, 0, "", "")}, want: []string{"root suite 2"}},
		{what: "a root with a path", suites: []treecheck.Suite{suite(1, 0, "a", "/a")}, want: []string{"wrong-path suite 1"}},
		{
			what:   "a descendant that a rename forgot",
			suites: []treecheck.Suite{root, suite(2, 1, "new", "/new"), suite(3, 2, "b", "/old/b"), suite(4, 3, "c", "/old/b/c")},
			want:   []string{"wrong-path suite 3"},
		},
		{
			what:   "a path that only looks like the parent's",
			suites: []treecheck.Suite{root, suite(2, 1, "a", "/a"), suite(3, 2, "b", "/a-b")},
			want:   []string{"wrong-path suite 3"},
		},
		{what: "an orphan", suites: []treecheck.Suite{root, suite(3, 2, "b", "/a/b")}, want: []string{"orphan suite 3"}},
		{
			what:   "a cycle of two, and one that hangs below it",
			suites: []treecheck.Suite{root, suite(2, 3, "a", "/b/a"), suite(3, 2, "b", "/b/a/b"), suite(4, 3, "c", "/b/a/b/c")},
			want:   []string{"wrong-path suite 2", "cycle suite 2", "cycle suite 3"},
		},
		{what: "its own parent", suites: []treecheck.Suite{root, suite(2, 2, "a", "/a")}, want: []string{"wrong-path suite 2", "cycle suite 2"}},
		{
			what:   "two siblings of one name, and a cousin who may",
			suites: []treecheck.Suite{root, suite(2, 1, "a", "/a"), suite(3, 1, "a", "/a"), suite(4, 2, "a", "/a/a")},
			want:   []string{"duplicate-name suite 3"},
		},
		{
			what:   "a case without a suite, and two of one name",
			suites: []treecheck.Suite{root},
			cases:  []treecheck.Case{{ID: 1, SuiteID: 1, Name: "x"}, {ID: 2, SuiteID: 1, Name: "x"}, {ID: 3, SuiteID: 9, Name: "x"}},
			want:   []string{"duplicate-name case 2", "orphan case 3"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			got := []string{}
			for _, p := range treecheck.Check(tt.suites, tt.cases) {
				got = append(got, fmt.Sprintf("%s %s %d", p.Problem, p.Kind, p.ID))
			}
			if !slices.Equal(got, append([]string{}, tt.want...)) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
