package gormplugin

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// depthOption is the type behind [MaxDepth].
type depthOption int

// apply implements [ModelOption].
func (d depthOption) apply(m *modelSpec) {
	names := int(d)
	m.maxDepth = &names
}

// MaxDepth sets how many names, or ids, the path of a row of the model has at most, from 1 to
// [pathlock.MaxDepth], which is the default. A write that would put a row deeper, or any row below
// it, is refused with a [*TooDeepError]. A row that lies deeper already can be renamed, and moved to
// where it does not lie deeper still.
//
// It is an option of a [Model]. A leaf may hang below the deepest row.
func MaxDepth(names int) ModelOption { return depthOption(names) }

// depthLimit returns how deep the rows of a model may lie.
func (m modelSpec) depthLimit() (int, error) {
	switch {
	case m.maxDepth == nil:
		return pathlock.MaxDepth, nil
	case m.parent != nil:
		return 0, fmt.Errorf("gormplugin: %T: a leaf has no MaxDepth: it may hang below the deepest row of the model above", m.model)
	case *m.maxDepth < 1 || *m.maxDepth > pathlock.MaxDepth:
		return 0, fmt.Errorf("gormplugin: %T: MaxDepth(%d): a limit is from 1 to %d", m.model, *m.maxDepth, pathlock.MaxDepth)
	}
	return *m.maxDepth, nil
}

// checkDepth refuses a place that is too deep.
func (t *table) checkDepth(path pathlock.Path) error {
	if path.Depth() <= t.maxDepth {
		return nil
	}
	return &fault.TooDeepError{Table: t.name, Path: path.Column(), Depth: path.Depth(), Limit: t.maxDepth}
}
