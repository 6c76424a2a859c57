package gormplugin

// copier copies subtrees.
type copier struct{ *planner }
