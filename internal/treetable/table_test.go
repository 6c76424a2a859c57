package treetable_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// suites describes a sound table.
func suites() treetable.Table {
	return treetable.Table{
		Table: "suites", Key: "id", Tree: "plan_id", Parent: "parent_id", Name: "name", Path: "path", Deleted: "deleted_at",
		Leaves: []treetable.Table{{Table: "cases", Key: "id", Parent: "suite_id", Name: "name", Path: "folder", PathForm: "parent:/*/*"}},
	}
}

func TestTable_Check(t *testing.T) {
	for _, tt := range []struct {
		what, says string
		change     func(*treetable.Table)
	}{
		{"a sound table", "", func(*treetable.Table) {}},
		{"a path of ids alone, without names", "", func(s *treetable.Table) { s.Path, s.Name, s.IDPath, s.Leaves = "", "", "ids", nil }},
		{"one tree", "", func(s *treetable.Table) { s.Tree, s.SingleTree = "", "all" }},
		{"no name of the table", "no table name", func(s *treetable.Table) { s.Table = "" }},
		{"no key", "no key column", func(s *treetable.Table) { s.Key = "" }},
		{"no tree", "neither a tree column nor a single tree", func(s *treetable.Table) { s.Tree = "" }},
		{"two sources of the tree", "both a tree column and a single tree", func(s *treetable.Table) { s.SingleTree = "all" }},
		{"no parent", "no parent column", func(s *treetable.Table) { s.Parent = "" }},
		{"a path of names without names", "no name column", func(s *treetable.Table) { s.Name = "" }},
		{"no path", "neither a path nor an id path", func(s *treetable.Table) { s.Path = "" }},
		{"a column for two purposes", `the name column and the path column are both "name"`, func(s *treetable.Table) { s.Path = "name" }},
		{"a form that cannot be", "two stars", func(s *treetable.Table) { s.PathForm = "/*" }},
		{"a form of no column", "belongs to no column", func(s *treetable.Table) { s.IDPathForm = "/*/*" }},
		{"a value of no mark", "no column is given", func(s *treetable.Table) { s.Deleted, s.DeletedWhen = "", "archived" }},
		{"a depth", "", func(s *treetable.Table) { s.Depth, s.DepthTop, s.Leaves[0].Depth = "level", "0", "level" }},
		{"a depth of no column", "a table that has a depth", func(s *treetable.Table) { s.DepthTop = "0" }},
		{"a depth that is no number", `"-1" cannot be the depth`, func(s *treetable.Table) { s.Depth, s.DepthTop = "level", "-1" }},
		{"a depth of leaves alone", `"suites" has none`, func(s *treetable.Table) { s.Leaves[0].Depth = "level" }},
		{"leaves at the top", "never at the top", func(s *treetable.Table) { s.Leaves[0].ParentTop = "-1" }},
		{"leaves without a parent", `the leaves "cases": no parent column`, func(s *treetable.Table) { s.Leaves[0].Parent = "" }},
		{"leaves without a path", `the leaves "cases" have no path`, func(s *treetable.Table) { s.Leaves[0].Path, s.Leaves[0].PathForm = "", "" }},
		{"leaves with a path of another kind", "a path of a kind", func(s *treetable.Table) { s.Leaves[0].IDPath = "ids" }},
		{"leaves in a tree of their own", "in the tree of its parent", func(s *treetable.Table) { s.Leaves[0].Tree = "plan_id" }},
	} {
		t.Run(tt.what, func(t *testing.T) {
			table := suites()
			tt.change(&table)
			err := table.Check()
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Check: %v, want an error that says %q", err, tt.says)
			}
		})
	}
}

// A column that no role names would be checked, read and named nowhere.
func TestRoles_haveAllColumns(t *testing.T) {
	noColumns := []string{"Table", "SingleTree", "ParentTop", "PathForm", "IDPathForm", "DepthTop", "DeletedWhen", "Namespace", "Leaves"}
	var table treetable.Table
	for i, role := range treetable.Roles {
		*role.Column(&table) = string(rune('a' + i))
	}
	v := reflect.ValueOf(table)
	seen := make(map[string]bool)
	for i := range v.NumField() {
		field := v.Type().Field(i).Name
		if slices.Contains(noColumns, field) {
			continue
		}
		if name := v.Field(i).String(); name == "" || seen[name] {
			t.Errorf("no role, or one of several, names the column %s", field)
		} else {
			seen[name] = true
		}
	}
}
