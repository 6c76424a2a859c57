package gormplugintest

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// treeTable is where the reader finds a tree: its table and its columns.
type treeTable struct {
	name, key, tree, parent, label, path string
	// live is the condition on rows that are not deleted.
	live string
	// none is what stands for no parent beside NULL: "0" or "".
	none string
}

// suites is the table of [Suite].
var suites = treeTable{name: "suites", key: "id", tree: "plan_id", parent: "parent_id", label: "name", path: "path", live: "deleted IS NULL"}

// stored is a row as the reader sees it; keys are texts, and parent is nil at the top.
type stored struct {
	key, name, path string
	parent          *string
}

// problems reads a plan by plain SQL and says what is wrong with it.
func problems(db *gorm.DB, plan int64) []string {
	_, found := suites.problems(db, plan)
	return found
}

// problems reads a tree by plain SQL and returns the paths of its live rows, in order and without
// the root's, and what is wrong with them: for every row, the path has to be what its ancestors'
// names make it. It shares no code with the plugin.
func (t treeTable) problems(db *gorm.DB, tree any) (paths, found []string) {
	all, err := t.read(db, tree)
	if err != nil {
		return nil, []string{err.Error()}
	}
	byKey := make(map[string]stored, len(all))
	for _, r := range all {
		byKey[r.key] = r
	}
	slots := make(map[string]string)
	var root string
	atTop := 0
	for _, r := range all {
		if r.parent == nil {
			atTop++
			if r.name == "" {
				root = r.key
			}
		}
		if r.path != "" {
			paths = append(paths, r.path)
		}
		want, trouble := recomputed(r, byKey)
		switch {
		case trouble != "":
			found = append(found, fmt.Sprintf("row %s (%s): %s", r.key, r.path, trouble))
		case want != r.path:
			found = append(found, fmt.Sprintf("row %s: path %q, should be %q", r.key, r.path, want))
		}
		slot := "top/" + r.name
		if r.parent != nil {
			slot = *r.parent + "/" + r.name
		}
		if other, isTaken := slots[slot]; isTaken {
			found = append(found, fmt.Sprintf("rows %s and %s are siblings with the name %q", other, r.key, r.name))
		}
		slots[slot] = r.key
	}
	if root != "" && atTop > 1 {
		found = append(found, fmt.Sprintf("%d rows are at the top, beside the root row %s", atTop-1, root))
	}
	slices.Sort(paths)
	slices.Sort(found)
	return paths, found
}

// read returns the live rows.
func (t treeTable) read(db *gorm.DB, tree any) (all []stored, err error) {
	query := fmt.Sprintf("SELECT %s, %s, %s, %s FROM %s WHERE %s = ?", t.key, t.parent, t.label, t.path, t.name, t.tree)
	if t.live != "" {
		query += " AND " + t.live
	}
	rows, err := db.Raw(query, tree).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r stored
		var key, parent any
		if err := rows.Scan(&key, &parent, &r.name, &r.path); err != nil {
			return nil, err
		}
		r.key = keyText(key)
		if above := keyText(parent); parent != nil && above != t.none {
			r.parent = &above
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// keyText returns a key as the driver gave it as a text.
func keyText(value any) string {
	if bytes, ok := value.([]byte); ok {
		return string(bytes)
	}
	return strings.TrimSpace(fmt.Sprint(value))
}

// recomputed works a row's path out from the names above it.
func recomputed(r stored, byKey map[string]stored) (path, trouble string) {
	for range len(byKey) + 1 {
		if r.parent == nil {
			if r.name == "" {
				return path, ""
			}
			return "/" + r.name + path, ""
		}
		path = "/" + r.name + path
		above, ok := byKey[*r.parent]
		if !ok {
			return "", fmt.Sprintf("an orphan: the parent %s is not there", *r.parent)
		}
		r = above
	}
	return "", "in a cycle"
}
