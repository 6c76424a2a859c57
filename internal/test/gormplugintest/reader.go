package gormplugintest

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// problems reads a tree by plain SQL and returns the paths of its live rows, in order and without
// the root's, and what is wrong with them: each path has to be what the ancestors' names, or keys,
// make it. It shares no code with the plugin.
func (x *table) problems(db *gorm.DB, tree any) (paths, found []string) {
	all, err := x.read(db, tree)
	if err != nil {
		return nil, []string{err.Error()}
	}
	byKey := make(map[string]actual, len(all))
	for _, r := range all {
		if x.isNone(r.parent) {
			r.parent = ""
		}
		if r.live {
			byKey[r.key] = r
		}
	}
	if x.full {
		found = x.leafProblems(db, tree)
	}
	slots := make(map[string]string)
	root, atTop := "", 0
	for key, r := range byKey {
		if r.parent == "" {
			atTop++
			if r.name == "" {
				root = key
			}
		}
		path, ids, trouble := recomputed(r, byKey)
		switch {
		case trouble != "":
			found = append(found, fmt.Sprintf("row %s (%s): %s", key, r.path, trouble))
		case x.path != "" && x.pathForm.of(path) != r.path:
			found = append(found, fmt.Sprintf("row %s: path %q, should be %q", key, r.path, x.pathForm.of(path)))
		case x.ids != "" && x.idsForm.of(ids) != r.ids:
			found = append(found, fmt.Sprintf("row %s: path of ids %q, should be %q", key, r.ids, x.idsForm.of(ids)))
		case x.level != "" && x.path != "" && r.level != strings.Count(path, "/")-1+x.top:
			found = append(found, fmt.Sprintf("row %s: the depth of %q is %d", key, r.path, r.level))
		}
		if path != "" {
			paths = append(paths, path)
		}
		slot := r.parent + "/" + r.name
		if other, isTaken := slots[slot]; isTaken && !x.nameless {
			found = append(found, fmt.Sprintf("rows %s and %s are siblings with the name %q", other, key, r.name))
		}
		slots[slot] = key
	}
	if root != "" && atTop > 1 {
		found = append(found, fmt.Sprintf("%d rows are at the top, beside the root row %s", atTop-1, root))
	}
	slices.Sort(paths)
	slices.Sort(found)
	return paths, found
}

// leafProblems names the leaves whose path is not the path of the row above and their own name.
func (x *table) leafProblems(db *gorm.DB, tree any) (found []string) {
	var leaves []struct{ Above, Name, Held string }
	err := db.Raw("SELECT s.path AS above, c.name AS name, c.path_column AS held FROM cases c JOIN suites s ON s.id = c.suite_id WHERE s.deleted IS NULL AND s.plan_id = ?", tree).Scan(&leaves).Error
	if err != nil {
		return []string{err.Error()}
	}
	for _, leaf := range leaves {
		if leaf.Held != leaf.Above+"/"+leaf.Name {
			found = append(found, fmt.Sprintf("the leaf %q below %q has the path %q", leaf.Name, leaf.Above, leaf.Held))
		}
	}
	return found
}

// recomputed works a row's paths out from the rows above it.
func recomputed(r actual, byKey map[string]actual) (path, ids, trouble string) {
	for range len(byKey) + 1 {
		ids = "/" + r.key + ids
		if r.name != "" || r.parent != "" {
			path = "/" + r.name + path
		}
		if r.parent == "" {
			return path, ids, ""
		}
		above, ok := byKey[r.parent]
		if !ok {
			return "", "", fmt.Sprintf("an orphan: the parent %s is not there", r.parent)
		}
		r = above
	}
	return "", "", "in a cycle"
}
