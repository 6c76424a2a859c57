package write

import (
	"slices"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// isDead reports whether an update hits rows that are deleted softly, none of which it restores,
// and no others. They are no part of the tree: their place is the caller's to write.
func (x *relocation) isDead() bool {
	return len(x.hit.live) == 0 && len(x.hit.dead) > 0 && !x.assignment.restores
}

// checkMixed refuses an update that states the tree or a path of deleted rows and of live ones at
// once: what is right for the former is not the caller's to say for the latter.
func (x *relocation) checkMixed() error {
	if len(x.hit.live) == 0 || len(x.hit.dead) == 0 || x.assignment.restores {
		return nil
	}
	t := x.table
	for _, f := range []*schema.Field{t.Tree, t.Path, t.IDs, t.Fence} {
		if f != nil && x.assignment.states(f) {
			return t.Unsupported("%q of deleted rows cannot be set together with that of live ones: use two updates", f.DBName)
		}
	}
	return nil
}

// states reports whether a column is assigned.
func (a *assignment) states(f *schema.Field) bool {
	return slices.ContainsFunc(a.set, func(s clause.Assignment) bool { return s.Column.Name == f.DBName })
}
