package section

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// leafAt returns a path of depth names: suites inside suites, and a case in the last one.
func leafAt(depth int, name string) pathlock.Path {
	var b strings.Builder
	for level := 1; level < depth; level++ {
		fmt.Fprintf(&b, "/suite-%d", level)
	}
	return pathlock.MustParsePath(b.String() + "/" + name)
}

// spread returns the i-th leaf of a tree whose nodes have fan children each. Leaves with near
// numbers are near in the tree, and share the nodes above. The name of a node says which child of
// its parent it is.
func spread(i, depth, fan int) pathlock.Path {
	names := make([]string, depth)
	names[depth-1] = fmt.Sprintf("case-%06d", i)
	for level := depth - 2; level >= 0; level-- {
		i /= fan
		names[level] = fmt.Sprintf("suite-%d", i%fan)
	}
	return pathlock.MustParsePath("/" + strings.Join(names, "/"))
}

// apart returns the i-th of the leaves that share nothing but the root.
func apart(i, depth int) pathlock.Path {
	var b strings.Builder
	fmt.Fprintf(&b, "/suite-%06d", i)
	for level := 2; level < depth; level++ {
		fmt.Fprintf(&b, "/suite-%d", level)
	}
	return pathlock.MustParsePath(b.String() + fmt.Sprintf("/case-%06d", i))
}

// node is a place in one of the trees.
type node struct {
	tree string
	path pathlock.Path
}
