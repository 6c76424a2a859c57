package readme

import (
	"github.com/pathlock-go/pathlock/gormplugin"
)

// Suite is a node of the tree.
type Suite struct {
	ID       int64
	PlanID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name"`
	Path     string `pathlock:"path"`
}

// Case is a leaf.
type Case struct {
	ID      int64
	SuiteID int64  `pathlock:"parent"`
	Name    string `pathlock:"name"`
	Body    string
}

func options() []gormplugin.Option {
	return []gormplugin.Option{
		gormplugin.Model(&Suite{}, gormplugin.Namespace("testplan")),
		gormplugin.Leaf(&Case{}, &Suite{}),
	}
}
