package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
)

// depthOption is the type behind [MaxDepth].
type depthOption int

// apply implements [ModelOption].
func (d depthOption) apply(m *table.Spec) {
	names := int(d)
	m.MaxDepth = &names
}

// MaxDepth sets how many names, or ids, the path of a row of the model has at most, from 1 to
// [pathlock.MaxDepth], which is the default. A write that would put a row deeper, or any row below
// it, is refused with a [*TooDeepError]. A row that lies deeper already can be renamed, and moved
// to where it does not lie deeper still.
//
// It is an option of a [Model]. A leaf may hang below the deepest row.
func MaxDepth(names int) ModelOption { return depthOption(names) }
