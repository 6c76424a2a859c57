package plans

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// RestoreLocation returns the place that an item of the recycle bin would be restored to: its name
// below its old parent, wherever that is today.
func (s *Service) RestoreLocation(ctx context.Context, id string) (pathlock.Location, error) {
	itemID, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("%w: %q", pathlock.ErrInvalidID, id)
	}
	item, err := load[RecycledItem](s.db.Read.WithContext(ctx), "item", itemID)
	if err != nil {
		return pathlock.Location{}, err
	}
	at, err := s.suites.Resolve(ctx, strconv.FormatInt(item.ParentID, 10))
	if err != nil {
		return at, inBin(err, item)
	}
	at.Path, err = at.Path.Child(item.Name)
	return at, err
}

// Restore puts an item of the recycle bin back below its old parent. It returns a [Suite] or
// a [Case].
func (s *Service) Restore(ctx context.Context, id int64) (any, error) {
	return put(ctx, s, func(tx *gorm.DB) (restored any, err error) {
		item, err := load[RecycledItem](tx, "item", id)
		if err != nil {
			return nil, err
		}
		// One request gets the item, and every other one, such as a purge of the bin, finds it
		// gone.
		deleted := tx.Delete(&item)
		if deleted.Error == nil && deleted.RowsAffected == 0 {
			return nil, fmt.Errorf("%w: item %d", pathlock.ErrNotFound, id)
		}
		if deleted.Error != nil {
			return nil, deleted.Error
		}
		parent, err := gormplugin.Assert(tx, &Suite{}, item.ParentID)
		if err != nil {
			return nil, inBin(err, item)
		}
		if item.Kind == KindCase {
			restored, err = restoreCase(tx, item, parent)
		} else {
			restored, err = restoreSuite(tx, item)
		}
		switch deep, ok := errors.AsType[*gormplugin.TooDeepError](err); {
		case ok:
			return nil, TooDeep("item", deep.Depth)
		case errors.Is(err, gormplugin.ErrNameTaken):
			return nil, &NameTakenError{item.Name}
		case err != nil:
			return nil, err
		}
		return restored, tx.Where("item_id = ?", id).Delete(&RecycledNode{}).Error
	})
}

// inBin says of a missing old parent that it is in the recycle bin.
func inBin(err error, item RecycledItem) error {
	if !errors.Is(err, pathlock.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: suite %d, which %q was in, is in the recycle bin: restore that first", pathlock.ErrNotFound, item.ParentID, item.Name)
}

// nodesOf selects the ids of the suites or cases of items.
func nodesOf(tx *gorm.DB, items []int64, kind Kind) *gorm.DB {
	return tx.Model(&RecycledNode{}).Select("node_id").Where("item_id IN ? AND kind = ?", items, kind)
}

// restoreSuite restores the rows of a suite's subtree. The plugin gives them their paths, because
// the old parent may have another one by now.
func restoreSuite(tx *gorm.DB, item RecycledItem) (Suite, error) {
	err := tx.Unscoped().Model(&Suite{}).Where("id IN (?)", nodesOf(tx, []int64{item.ID}, KindSuite)).Update("deleted_at", nil).Error
	if err != nil {
		return Suite{}, err
	}
	var cases []int64
	if err := nodesOf(tx, []int64{item.ID}, KindCase).Scan(&cases).Error; err != nil {
		return Suite{}, err
	}
	if err := eachBatch(tx, `UPDATE cases SET deleted_at = NULL WHERE id IN ?`, cases); err != nil {
		return Suite{}, err
	}
	return load[Suite](tx, "suite", item.NodeID)
}

// restoreCase restores the row of a case.
func restoreCase(tx *gorm.DB, item RecycledItem, parent pathlock.Location) (Case, error) {
	if err := tx.Unscoped().Model(&Case{}).Where("id = ?", item.NodeID).Update("deleted_at", nil).Error; err != nil {
		return Case{}, err
	}
	c, err := load[Case](tx, "case", item.NodeID)
	c.Path = parent.Path.Column() + "/" + c.Name
	return c, err
}
