package gormtree

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"
)

// This is what a careful programmer writes without the plugin. Every statement serves one purpose,
// and is as safe as the plugin's. It locks the rows that a path depends on, up to the top, for
// sharing by their keys, and compares them. The statements that change rows lock them, or an
// earlier statement does.

// lockedChains locks rows and all rows above them in one statement, and compares their paths. It
// returns the rows by id.
func lockedChains(tx *gorm.DB, ids ...int64) (map[int64]Suite, error) {
	var chain []Suite
	err := tx.Raw(`SELECT id, parent_id, name, path, plan_id FROM suites FORCE INDEX (PRIMARY) WHERE id IN (
		WITH RECURSIVE up (id, above) AS (
			SELECT id, parent_id FROM suites WHERE id IN ?
			UNION SELECT s.id, s.parent_id FROM suites s JOIN up ON s.id = up.above)
		SELECT id FROM up) LOCK IN SHARE MODE`, ids).Scan(&chain).Error
	if err != nil {
		return nil, err
	}
	rows := make(map[int64]Suite, len(chain))
	for _, s := range chain {
		rows[s.ID] = s
	}
	for _, s := range chain {
		if s.ParentID != nil && s.Path != rows[*s.ParentID].Path+"/"+s.Name {
			return nil, fmt.Errorf("the path of %d has changed", s.ID)
		}
	}
	for _, id := range ids {
		if rows[id].ID == 0 {
			return nil, fmt.Errorf("%w: row %d", gorm.ErrRecordNotFound, id)
		}
	}
	return rows, nil
}

// EditByHand changes a column that no path depends on.
func (t *Tree) EditByHand(ctx context.Context, id int64, note string) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		return hits(1, tx.Exec(`UPDATE suites SET note = ? WHERE id = ?`, note, id))
	})
}

// SaveByHand writes all columns of a row that stays where the caller has read it. The condition
// makes sure of that.
func (t *Tree) SaveByHand(ctx context.Context, s *Suite) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		return hits(1, tx.Exec(`UPDATE suites SET note = ? WHERE id = ? AND plan_id = ? AND parent_id = ? AND name = ?`,
			s.Note, s.ID, s.PlanID, s.ParentID, s.Name))
	})
}

// InsertByHand inserts a row below a parent.
func (t *Tree) InsertByHand(ctx context.Context, parent int64, name string) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		above, err := lockedChains(tx, parent)
		if err != nil {
			return err
		}
		return tx.Create(&Suite{PlanID: above[parent].PlanID, ParentID: &parent, Name: name, Path: above[parent].Path + "/" + name}).Error
	})
}

// RenameByHand gives a row another name, and rewrites the paths of the rows below it, if any.
func (t *Tree) RenameByHand(ctx context.Context, id int64, name string) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		rows, err := lockedChains(tx, id)
		if err != nil {
			return err
		}
		from := rows[id].Path
		to := from[:strings.LastIndexByte(from, '/')+1] + name
		return relocate(tx, id, from, to, `name = ?`, name)
	})
}

// MoveByHand moves a row to below another one.
func (t *Tree) MoveByHand(ctx context.Context, id, parent int64) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		rows, err := lockedChains(tx, id, parent)
		if err != nil {
			return err
		}
		from, above := rows[id], rows[parent]
		if strings.HasPrefix(above.Path+"/", from.Path+"/") {
			return fmt.Errorf("%s would lie below itself", from.Path)
		}
		return relocate(tx, id, from.Path, above.Path+"/"+from.Name, `parent_id = ?`, parent)
	})
}

// relocate writes a row and the paths below it. It locks the row first: two writers that had locked
// it for sharing would wait for each other.
func relocate(tx *gorm.DB, id int64, from, to, assignment string, value any) error {
	var path string
	if err := tx.Raw(`SELECT path FROM suites WHERE id = ? FOR UPDATE`, id).Row().Scan(&path); err != nil {
		return err
	}
	if path != from {
		return fmt.Errorf("the path of %d has changed", id)
	}
	if err := hits(1, tx.Exec(`UPDATE suites SET `+assignment+`, path = ? WHERE id = ?`, value, to, id)); err != nil {
		return err
	}
	return rewrite(tx, from, to)
}

// MoveAllByHand moves rows without descendants to below another one, in one statement.
func (t *Tree) MoveAllByHand(ctx context.Context, ids []int64, parent int64) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		rows, err := lockedChains(tx, append([]int64{parent}, ids...)...)
		if err != nil {
			return err
		}
		var ranges []string
		var ends []any
		for _, id := range ids {
			ranges = append(ranges, `path >= ? AND path < ?`)
			ends = append(ends, rows[id].Path+"/", rows[id].Path+"0")
		}
		var below int
		err = tx.Raw(`SELECT COUNT(*) FROM suites WHERE plan_id = ? AND (`+strings.Join(ranges, ` OR `)+`)`, append([]any{PlanID}, ends...)...).Row().Scan(&below)
		if err != nil {
			return err
		}
		if below > 0 {
			return fmt.Errorf("there are %d rows below", below)
		}
		return hits(int64(len(ids)), tx.Exec(`UPDATE suites SET parent_id = ?, path = CONCAT(?, name) WHERE id IN ?`, parent, rows[parent].Path+"/", ids))
	})
}

// DeleteByHand deletes a row and all rows below it.
func (t *Tree) DeleteByHand(ctx context.Context, id int64) error {
	return t.inTransaction(ctx, func(tx *gorm.DB) error {
		rows, err := lockedChains(tx, id)
		if err != nil {
			return err
		}
		path := rows[id].Path
		return tx.Exec(`DELETE FROM suites WHERE plan_id = ? AND (path = ? OR path >= ? AND path < ?)`, PlanID, path, path+"/", path+"0").Error
	})
}

// RewriteByHand rewrites the paths of all rows below a path by one UPDATE.
func (t *Tree) RewriteByHand(ctx context.Context, from, to string) error {
	return rewrite(t.Plain.WithContext(ctx), from, to)
}

func rewrite(tx *gorm.DB, from, to string) error {
	return tx.Exec(`UPDATE suites SET path = CONCAT(?, SUBSTRING(path, ?)) WHERE plan_id = ? AND path >= ? AND path < ?`,
		to, utf8.RuneCountInString(from)+1, PlanID, from+"/", from+"0").Error
}

// inTransaction runs do on the connection without the plugin.
func (t *Tree) inTransaction(ctx context.Context, do func(tx *gorm.DB) error) error {
	return t.Plain.WithContext(ctx).Transaction(do)
}

// hits fails if a statement has changed another number of rows than it should.
func hits(n int64, result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected != n {
		return fmt.Errorf("%d rows were changed, and not %d", result.RowsAffected, n)
	}
	return result.Error
}
