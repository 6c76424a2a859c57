package plans

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// batch is the largest number of ids in one statement, and of rows in one INSERT.
const batch = 500

// RecycleBin returns the items of a plan's recycle bin, the oldest first.
func (s *Service) RecycleBin(ctx context.Context, planID int64) ([]RecycledItem, error) {
	if _, err := s.Plan(ctx, planID); err != nil {
		return nil, err
	}
	items := []RecycledItem{}
	err := s.db.Read.WithContext(ctx).Where("plan_id = ?", planID).Order("id").Find(&items).Error
	return items, err
}

// recycleSuite records a suite that has just been deleted, and deletes the cases in its subtree.
// The item consists of the deleted rows of the subtree that no earlier item has. It reads the rows
// again, because others could change them until the deletion locked them.
func recycleSuite(tx *gorm.DB, id int64) error {
	suite, err := load[Suite](tx.Unscoped(), "suite", id)
	if err != nil {
		return err
	}
	var suites, cases []int64
	err = gormplugin.Subtree(tx.Unscoped(), &Suite{}, id).
		Where("deleted_at IS NOT NULL").
		Where("NOT EXISTS (SELECT 1 FROM recycled_nodes n WHERE n.kind = ? AND n.node_id = suites.id)", KindSuite).
		Pluck("id", &suites).Error
	if err != nil {
		return err
	}
	err = gormplugin.Leaves(tx.Unscoped(), &Case{}, id).Where("deleted_at IS NULL").Pluck("id", &cases).Error
	if err != nil {
		return err
	}
	item := RecycledItem{
		PlanID: suite.PlanID, Kind: KindSuite, NodeID: suite.ID, ParentID: *suite.ParentID, Name: suite.Name, Path: suite.Path,
	}
	if err := recycle(tx, &item, suites, cases); err != nil {
		return err
	}
	if err := eachBatch(tx, `UPDATE cases SET deleted_at = ? WHERE id IN ?`, cases, item.DeletedAt); err != nil {
		return err
	}
	return Changed(tx, suite.PlanID)
}

// recycleCase records a case that has just been deleted.
func recycleCase(tx *gorm.DB, id int64) error {
	c, err := load[Case](tx.Unscoped(), "case", id)
	if err != nil {
		return err
	}
	suite, err := load[Suite](tx, "suite", c.SuiteID)
	if err != nil {
		return err
	}
	return recycle(tx, &RecycledItem{
		PlanID: suite.PlanID, Kind: KindCase, NodeID: c.ID, ParentID: suite.ID, Name: c.Name, Path: suite.Path + "/" + c.Name,
	}, nil, []int64{c.ID})
}

// recycle creates an item of these suites and cases.
func recycle(tx *gorm.DB, item *RecycledItem, suites, cases []int64) error {
	item.Suites, item.Cases = int64(len(suites)), int64(len(cases))
	item.DeletedAt = time.Now().UTC().Truncate(time.Microsecond)
	if err := tx.Create(item).Error; err != nil {
		return err
	}
	var nodes []RecycledNode
	for _, id := range suites {
		nodes = append(nodes, RecycledNode{item.ID, KindSuite, id})
	}
	for _, id := range cases {
		nodes = append(nodes, RecycledNode{item.ID, KindCase, id})
	}
	return tx.CreateInBatches(nodes, batch).Error
}

// Purge empties the recycle bin of a plan for good. It leaves what is deleted meanwhile.
func (s *Service) Purge(ctx context.Context, planID int64) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if _, err := load[Plan](tx, "plan", planID); err != nil {
			return err
		}
		return purge(tx, planID)
	})
}

// purge deletes the items of a plan and their rows. It lists their ids, because MariaDB scans and
// locks a whole table for a DELETE with a subquery.
func purge(tx *gorm.DB, planID int64) error {
	// A restoration of one of the items waits here, or this waits for it.
	var items []int64
	err := forUpdate(tx).Model(&RecycledItem{}).Where("plan_id = ?", planID).Pluck("id", &items).Error
	if err != nil {
		return err
	}
	for some := range slices.Chunk(items, batch) {
		for kind, statement := range map[Kind]string{
			KindSuite: `DELETE FROM suites WHERE id IN ?`,
			KindCase:  `DELETE FROM cases WHERE id IN ?`,
		} {
			var ids []int64
			if err := nodesOf(tx, some, kind).Scan(&ids).Error; err != nil {
				return err
			}
			if err := eachBatch(tx, statement, ids); err != nil {
				return err
			}
		}
		if err := tx.Exec(`DELETE FROM recycled_nodes WHERE item_id IN ?`, some).Error; err != nil {
			return err
		}
		if err := tx.Exec(`DELETE FROM recycled_items WHERE id IN ?`, some).Error; err != nil {
			return err
		}
	}
	return nil
}

// eachBatch runs a statement for batches of ids. Its last placeholder is the list of ids; args are
// those before it. It may write tables that the plugin guards, because the rows are deleted ones or
// their leaves, which belong to no tree.
func eachBatch(tx *gorm.DB, statement string, ids []int64, args ...any) error {
	for some := range slices.Chunk(ids, batch) {
		if err := gormplugin.AllowRawWrites(tx).Exec(statement, append(slices.Clip(args), some)...).Error; err != nil {
			return err
		}
	}
	return nil
}
