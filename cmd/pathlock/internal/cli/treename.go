package cli

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// treeName has the argument and the flag that name a tree.
type treeName struct {
	Tree      string `arg:"" optional:"" help:"Tree: its namespace and id, such as testplan/plan-001." placeholder:"TREE"`
	Namespace string `help:"Namespace of the tree, if it has a slash itself. Then TREE is the id alone." placeholder:"NAME"`
}

// parse returns the tree, zero if none was named.
func (n treeName) parse() (pathlock.Tree, error) {
	if n.Tree == "" {
		if n.Namespace != "" {
			return pathlock.Tree{}, fmt.Errorf("%w: --namespace without a tree", errUsage)
		}
		return pathlock.Tree{}, nil
	}
	return parseTree(n.Namespace, n.Tree)
}

// parseTree reads a tree: namespace/id, or the id alone if a namespace is given.
func parseTree(namespace, name string) (pathlock.Tree, error) {
	id := name
	if namespace == "" {
		var ok bool
		if namespace, id, ok = strings.Cut(name, "/"); !ok {
			return pathlock.Tree{}, fmt.Errorf("%w: the tree %q has no namespace: give namespace/id, such as testplan/plan-001", errUsage, name)
		}
	}
	tree, err := pathlock.NewTree(namespace, id)
	if err != nil {
		return tree, fmt.Errorf("%w: %w", errUsage, err)
	}
	return tree, nil
}
