package plans

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// shards is how many counters a plan has.
const shards = 16

// Changed notes in a transaction that the tree of a plan has changed. It belongs at the end: the
// counter is locked until the commit.
func Changed(tx *gorm.DB, planID int64) error {
	change := model.PlanChange{PlanID: planID, Shard: rand.N(shards), Number: 1}
	counted := tx.Exec(`UPDATE plan_changes SET number = number + 1 WHERE plan_id = ? AND shard = ?`, change.PlanID, change.Shard)
	if counted.Error != nil || counted.RowsAffected > 0 {
		return counted.Error
	}
	first := clause.OnConflict{
		Columns:   []clause.Column{{Name: "plan_id"}, {Name: "shard"}},
		DoUpdates: clause.Assignments(map[string]any{"number": gorm.Expr("plan_changes.number + 1")}),
	}
	return tx.Clauses(first).Create(&change).Error
}

// Revision returns a number that is another one when the plan's name has changed, or its tree by
// way of the app. It says nothing of cases.
func (s *Service) Revision(ctx context.Context, plan model.Plan) (uint32, error) {
	var changes int64
	err := s.db.Read.WithContext(ctx).Model(&model.PlanChange{}).Where("plan_id = ?", plan.ID).
		Select("COALESCE(SUM(number), 0)").Scan(&changes).Error
	return crc32.ChecksumIEEE(strconv.AppendInt([]byte(plan.Name+" "), changes, 10)), err
}
