package table

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// Spec is a model as it is registered.
type Spec struct {
	Model   any
	Parent  any // of a leaf; nil for a model with a path of its own
	Columns Columns
	// Namespace is the first argument of [pathlock.NewTree]; "" for the table's name.
	Namespace string
	// MaxDepth is how many names a path has at most, nil if that was not given.
	MaxDepth *int
}

// Columns are those of a model's columns, by field or by column name; an empty one is looked for
// among the tags.
type Columns struct {
	Tree, Parent, Name, Path, IDPath, Version, Fence string
}

// depthLimit returns how deep the rows of a model may lie.
func (m Spec) depthLimit() (int, error) {
	switch {
	case m.MaxDepth == nil:
		return pathlock.MaxDepth, nil
	case m.Parent != nil:
		return 0, fmt.Errorf("gormplugin: %T: a leaf has no MaxDepth: it may hang below the deepest row of the model above", m.Model)
	case *m.MaxDepth < 1 || *m.MaxDepth > pathlock.MaxDepth:
		return 0, fmt.Errorf("gormplugin: %T: MaxDepth(%d): a limit is from 1 to %d", m.Model, *m.MaxDepth, pathlock.MaxDepth)
	}
	return *m.MaxDepth, nil
}

// tagName is the struct tag that marks the tree's columns.
const tagName = "pathlock"
