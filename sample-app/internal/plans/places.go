package plans

import (
	"context"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// fold gives a path the spelling that locks have.
type fold func(pathlock.Path) (pathlock.Path, error)

// Places returns the suites of a plan that are at folded paths, and above them. It goes down from
// the root, so that of a large plan it reads only what is on the way.
func (s *Service) Places(ctx context.Context, plan Plan, paths []pathlock.Path, fold fold) (map[pathlock.Path]int64, error) {
	at := map[pathlock.Path]int64{pathlock.Root(): plan.RootID}
	for _, level := range levels(paths) {
		// Most names are what they are folded to, and the index finds them.
		for _, named := range []string{"name IN ?", s.foldsTo()} {
			missing := slices.DeleteFunc(slices.Clone(level), func(p pathlock.Path) bool { return at[p] != 0 || at[p.Parent()] == 0 })
			for some := range slices.Chunk(missing, batch) {
				if err := s.find(ctx, plan, some, named, fold, at); err != nil {
					return nil, err
				}
			}
		}
	}
	return at, nil
}

// levels returns paths and those above them, without the root, by their depth.
func levels(paths []pathlock.Path) (levels [][]pathlock.Path) {
	seen := map[pathlock.Path]bool{pathlock.Root(): true}
	for _, path := range paths {
		for ; !seen[path]; path = path.Parent() {
			seen[path] = true
			for len(levels) < path.Depth() {
				levels = append(levels, nil)
			}
			levels[path.Depth()-1] = append(levels[path.Depth()-1], path)
		}
	}
	return levels
}

// foldsTo is the condition of names that may be folded to others. No database folds all that locks
// do, so it holds for every name with letters beyond ASCII.
func (s *Service) foldsTo() string {
	if s.db.Dialect == sqlstore.MySQL {
		return "LOWER(name) IN ? OR OCTET_LENGTH(name) <> CHAR_LENGTH(name)"
	}
	return "LOWER(name) IN ? OR OCTET_LENGTH(name) <> LENGTH(name)"
}

// find adds the suites at paths of one depth whose names meet a condition.
func (s *Service) find(ctx context.Context, plan Plan, paths []pathlock.Path, named string, fold fold, at map[pathlock.Path]int64) error {
	parents, names := map[int64]pathlock.Path{}, []string{}
	for _, path := range paths {
		parents[at[path.Parent()]] = path.Parent()
		names = append(names, path.Base())
	}
	var rows []Suite
	err := s.db.Read.WithContext(ctx).Select("id", "parent_id", "name").
		Where("plan_id = ? AND parent_id IN ?", plan.ID, slices.Collect(maps.Keys(parents))).Where(named, names).Find(&rows).Error
	for _, row := range rows {
		path, err := parents[*row.ParentID].Child(row.Name)
		if err == nil { // a tree without protection can have other rows
			path, err = fold(path)
		}
		if err == nil {
			at[path] = row.ID
		}
	}
	return err
}
