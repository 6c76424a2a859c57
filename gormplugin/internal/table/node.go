package table

// Node is a row of a guarded table, or one that is about to be.
type Node struct {
	// ID, parent and tree are column values in plain form, see [Plain]: they can be compared and
	// used as map keys. parent is nil at the top, which is NULL or a zero value in the column.
	ID, Parent, Tree any
	Name             string
	// Path is the path column; for a leaf it is made up from its parent's.
	Path string
	// IDs is the path of ids beside a path of names.
	IDs     string
	Version int64
	Fence   any
	// Hit is set where a survey's statement means the row, and childless where the survey has found
	// no live row below such a row.
	Hit, Childless bool
}

// IsRoot reports whether a row is the root row of its tree.
func (n *Node) IsRoot() bool { return n.Parent == nil && n.Name == "" }
