package gormtree

import (
	"context"
	"fmt"
	"unicode/utf8"

	"gorm.io/gorm"
)

// InsertByHand inserts a row below a parent, as safely as the plugin does and without it: the parent and everything above it are locked for
// sharing by their keys and compared, and the row gets the path that they say.
func (t *Tree) InsertByHand(ctx context.Context, parent int64, name string) error {
	return t.Plain.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var chain []Suite
		err := tx.Raw(`SELECT id, parent_id, name, path, plan_id FROM suites FORCE INDEX (PRIMARY) WHERE id IN (
			WITH RECURSIVE up (id, above) AS (
				SELECT id, parent_id FROM suites WHERE id = ?
				UNION SELECT s.id, s.parent_id FROM suites s JOIN up ON s.id = up.above)
			SELECT id FROM up) LOCK IN SHARE MODE`, parent).Scan(&chain).Error
		if err != nil {
			return err
		}
		above := make(map[int64]Suite, len(chain))
		for _, s := range chain {
			above[s.ID] = s
		}
		for _, s := range chain {
			if s.ParentID != nil && s.Path != above[*s.ParentID].Path+"/"+s.Name {
				return fmt.Errorf("the path of %d has changed", s.ID)
			}
		}
		at, ok := above[parent]
		if !ok {
			return gorm.ErrRecordNotFound
		}
		return tx.Create(&Suite{PlanID: at.PlanID, ParentID: &parent, Name: name, Path: at.Path + "/" + name}).Error
	})
}

// RewriteByHand is the one UPDATE that gives everything below a path its new one.
func (t *Tree) RewriteByHand(ctx context.Context, from, to string) error {
	return t.Plain.WithContext(ctx).Exec(`UPDATE suites SET path = CONCAT(?, SUBSTRING(path, ?)) WHERE plan_id = ? AND path >= ? AND path < ?`,
		to, utf8.RuneCountInString(from)+1, PlanID, from+"/", from+"0").Error
}
