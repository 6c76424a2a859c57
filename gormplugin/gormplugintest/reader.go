package gormplugintest

import (
	"fmt"
	"slices"

	"gorm.io/gorm"
)

// stored is a row as the reader sees it.
type stored struct {
	ID       int64
	ParentID *int64
	Name     string
	Path     string
}

// problems reads a plan by plain SQL and says what is wrong with it: for every live row, the path has to
// be what its ancestors' names make it. It shares no code with the plugin.
func problems(db *gorm.DB, plan int64) []string {
	var rows []stored
	if err := db.Raw("SELECT id, parent_id, name, path FROM suites WHERE plan_id = ? AND deleted IS NULL", plan).Scan(&rows).Error; err != nil {
		return []string{err.Error()}
	}
	byID := make(map[int64]stored, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	var found []string
	slots := make(map[string]int64)
	for _, r := range rows {
		want, trouble := recomputed(r, byID)
		switch {
		case trouble != "":
			found = append(found, fmt.Sprintf("row %d (%s): %s", r.ID, r.Path, trouble))
		case want != r.Path:
			found = append(found, fmt.Sprintf("row %d: path %q, should be %q", r.ID, r.Path, want))
		}
		slot := "top/" + r.Name
		if r.ParentID != nil {
			slot = fmt.Sprintf("%d/%s", *r.ParentID, r.Name)
		}
		if other, taken := slots[slot]; taken {
			found = append(found, fmt.Sprintf("rows %d and %d are siblings with the name %q", other, r.ID, r.Name))
		}
		slots[slot] = r.ID
	}
	slices.Sort(found)
	return found
}

// recomputed works a row's path out from the names above it.
func recomputed(r stored, byID map[int64]stored) (path, trouble string) {
	for range len(byID) + 1 {
		if r.ParentID == nil {
			if r.Name == "" {
				return path, ""
			}
			return "/" + r.Name + path, ""
		}
		path = "/" + r.Name + path
		above, ok := byID[*r.ParentID]
		if !ok {
			return "", fmt.Sprintf("an orphan: the parent %d is not there", *r.ParentID)
		}
		r = above
	}
	return "", "in a cycle"
}
