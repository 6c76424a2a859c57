package plans

import (
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// RestoreLocation returns the place that an item of the recycle bin would be restored to: its name
// below its old parent, wherever that is today.
func (s *Service) RestoreLocation(ctx context.Context, id string) (pathlock.Location, error) {
	itemID, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("%w: %q", pathlock.ErrInvalidID, id)
	}
	item, err := load[model.RecycledItem](s.db.Read.WithContext(ctx), "item", itemID)
	if err != nil {
		return pathlock.Location{}, err
	}
	at, err := s.suites.Resolve(ctx, strconv.FormatInt(item.ParentID, 10))
	if err != nil {
		return at, fmt.Errorf("the suite that it was in: %w", err)
	}
	at.Path, err = at.Path.Child(item.Name)
	return at, err
}

// Restore puts an item of the recycle bin back below its old parent. It returns a [model.Suite] or
// a [model.Case].
//
// The statement that restores a subtree is written by hand, under the plugin's assertion. An Update
// that clears deleted_at would work, too, but it would read and lock each row of the subtree.
func (s *Service) Restore(ctx context.Context, id int64) (restored any, err error) {
	err = s.write(ctx, recorded(&restored, func(tx *gorm.DB) error {
		item, err := load[model.RecycledItem](tx, "item", id)
		if err != nil {
			return err
		}
		// One request gets the item, and every other one, such as a purge of the bin, finds it
		// gone.
		deleted := tx.Delete(&item)
		if deleted.Error == nil && deleted.RowsAffected == 0 {
			return fmt.Errorf("%w: item %d", pathlock.ErrNotFound, id)
		}
		if deleted.Error != nil {
			return deleted.Error
		}
		parent, err := gormplugin.Assert(tx, &model.Suite{}, item.ParentID)
		if err != nil {
			return err
		}
		if item.Kind == model.KindCase {
			restored, err = restoreCase(tx, item, parent)
		} else {
			restored, err = restoreSuite(tx, item, parent)
		}
		if err != nil {
			return nameTaken(err, item.Name)
		}
		return tx.Where("item_id = ?", id).Delete(&model.RecycledNode{}).Error
	}))
	return restored, err
}

// nodesOf returns the ids of an item's suites or cases.
func nodesOf(tx *gorm.DB, item int64, kind model.Kind) (ids []int64, err error) {
	err = tx.Model(&model.RecycledNode{}).Where("item_id = ? AND kind = ?", item, kind).Pluck("node_id", &ids).Error
	return ids, err
}

// restoreSuite restores the rows of a suite's subtree. It replaces the beginning of their paths,
// because the old parent may have another path by now.
func restoreSuite(tx *gorm.DB, item model.RecycledItem, parent pathlock.Location) (model.Suite, error) {
	top, err := load[model.Suite](tx.Unscoped(), "suite", item.NodeID)
	if err != nil {
		return top, err
	}
	suites, err := nodesOf(tx, item.ID, model.KindSuite)
	if err != nil {
		return top, err
	}
	cases, err := nodesOf(tx, item.ID, model.KindCase)
	if err != nil {
		return top, err
	}
	err = eachBatch(tx, `UPDATE suites SET deleted_at = NULL, version = version + 1, path = `+database.Dialect(tx.Name()).Splice("path")+` WHERE id IN ?`,
		suites, parent.Path.Column()+"/"+item.Name, utf8.RuneCountInString(top.Path)+1)
	if err != nil {
		return top, err
	}
	if err := eachBatch(tx, `UPDATE cases SET deleted_at = NULL WHERE id IN ?`, cases); err != nil {
		return top, err
	}
	if top, err = load[model.Suite](tx, "suite", item.NodeID); err != nil {
		return top, err
	}
	depth, err := deepest(tx, top)
	if err == nil && depth > model.MaxDepth {
		err = TooDeep("item", depth)
	}
	return top, err
}

// deepest returns the depth of the deepest suite in a subtree that the transaction has written.
func deepest(tx *gorm.DB, top model.Suite) (depth int, err error) {
	var below *int
	err = tx.Model(&model.Suite{}).Where("plan_id = ? AND path > ? AND path < ?", top.PlanID, top.Path+"/", top.Path+"0").
		Select("MAX(LENGTH(path) - LENGTH(REPLACE(path, '/', '')))").Scan(&below).Error
	depth = model.Depth(top.Path)
	if below != nil {
		depth = max(depth, *below)
	}
	return depth, err
}

// restoreCase restores the row of a case.
func restoreCase(tx *gorm.DB, item model.RecycledItem, parent pathlock.Location) (model.Case, error) {
	if err := tx.Unscoped().Model(&model.Case{}).Where("id = ?", item.NodeID).Update("deleted_at", nil).Error; err != nil {
		return model.Case{}, err
	}
	c, err := load[model.Case](tx, "case", item.NodeID)
	c.Path = parent.Path.Column() + "/" + c.Name
	return c, err
}
