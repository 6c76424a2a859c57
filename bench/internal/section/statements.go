package section

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/bench/internal/gormtree"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// The ways to make each write.
const (
	writtenByHand   = "by hand"
	writtenAlone    = "by the plugin"
	writtenTogether = "by the plugin in a transaction"
)

// statements counts the statements of each kind of write, without BEGIN and COMMIT.
func statements(ctx context.Context, env *Env) (_ result, err error) {
	tree, err := gormtree.Open(ctx, env.DSN)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()

	kinds := countedWrites(env.Plan.MovedAtOnce)
	for i, kind := range kinds {
		// Once in a process, the plugin asks for the name of an index.
		if _, err := countWrite(ctx, tree, fmt.Sprint("first-", i), kind); err != nil {
			return result{}, fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	var rows []string
	var counts [][]float64
	var targets []report.Target
	one := 0.0 // what the move of one row takes
	for i, kind := range kinds {
		sent, err := countWrite(ctx, tree, fmt.Sprint("write-", i), kind)
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", kind.name, err)
		}
		most := 0.0
		for _, way := range []string{writtenByHand, writtenAlone, writtenTogether} {
			rows = append(rows, kind.name+", "+way)
			counts = append(counts, []float64{sent[way]})
			if way != writtenByHand {
				most = max(most, sent[way])
			}
		}
		target := report.Target{
			ID: "statements-" + kind.id, What: "statements by the plugin: " + kind.name,
			Relation: report.AtMost, Limit: kind.goal, Unit: "statements",
		}
		switch {
		case kind.rows == 1:
			one = most
		case kind.rows > 1:
			target.What = "statements by the plugin, more than for one row: " + kind.name
			most -= one
		}
		target.Measured = stats.SpreadOf([]float64{most})
		targets = append(targets, target)
	}
	if err := tree.Check(ctx); err != nil {
		return result{}, err
	}
	table := report.NewTable("statements", "statements that the server is sent for a write, beyond BEGIN and COMMIT", "statements", "", rows, counts)
	return result{tables: []report.Table{table}, targets: targets, notes: []string{
		"by hand: see gormtree/byhand.go; the same row locks and comparison. In a transaction: of the caller's, who holds the path locks already. What is judged is the greater of the plugin's two",
	}}, nil
}

// countedWrite is a kind of write. Each of its functions makes one write, with new rows.
type countedWrite struct {
	id, name string
	goal     float64
	byHand   func(ctx context.Context, tree *gormtree.Tree, at place) error
	byPlugin func(db *gorm.DB, at place) error
	// below is the number of rows below the row, and rows the number of rows that one statement
	// writes.
	below, rows int
}

// place has the rows of a write.
type place struct {
	// row is the written row, and rows are all of them if there are several.
	row  gormtree.Suite
	rows []gormtree.Suite
	// elsewhere is a row beside their parent.
	elsewhere gormtree.Suite
}

func (p place) ids() []int64 {
	ids := make([]int64, len(p.rows))
	for i, row := range p.rows {
		ids[i] = row.ID
	}
	return ids
}

// countedWrites are the kinds of writes, with one kind for each number of rows moved at once.
func countedWrites(movedAtOnce []int) []countedWrite {
	rename := countedWrite{
		byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
			return tree.RenameByHand(ctx, at.row.ID, "another")
		},
		byPlugin: func(db *gorm.DB, at place) error {
			return gormplugin.Rename(db, &gormtree.Suite{}, at.row.ID, "another")
		},
	}
	move := countedWrite{
		byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
			return tree.MoveByHand(ctx, at.row.ID, at.elsewhere.ID)
		},
		byPlugin: func(db *gorm.DB, at place) error {
			return gormplugin.Move(db, &gormtree.Suite{}, at.row.ID, at.elsewhere.ID)
		},
	}
	writes := []countedWrite{
		{
			id: "edit", name: "edit of a note", goal: 1,
			byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
				return tree.EditByHand(ctx, at.row.ID, "edited")
			},
			byPlugin: func(db *gorm.DB, at place) error {
				return db.Model(&gormtree.Suite{ID: at.row.ID}).Update("note", "edited").Error
			},
		},
		{
			id: "create", name: "create below a parent", goal: 3,
			byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
				return tree.InsertByHand(ctx, at.row.ID, "new")
			},
			byPlugin: func(db *gorm.DB, at place) error {
				return db.Create(&gormtree.Suite{ParentID: &at.row.ID, Name: "new"}).Error
			},
		},
		{
			id: "save", name: "Save of a row that stays where it is", goal: 2,
			byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
				at.row.Note = "saved"
				return tree.SaveByHand(ctx, &at.row)
			},
			byPlugin: func(db *gorm.DB, at place) error {
				at.row.Note = "saved"
				return db.Save(&at.row).Error
			},
		},
		rename.of("rename-row", "rename of a row without descendants", 4, 0, 0),
		rename.of("rename-subtree", "rename of a subtree", 5, 3, 0),
		move.of("move-row", "move of a row without descendants", 5, 0, 0),
		move.of("move-subtree", "move of a subtree", 5, 3, 0),
		{
			id: "delete", name: "delete of a subtree", goal: 4, below: 3,
			byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
				return tree.DeleteByHand(ctx, at.row.ID)
			},
			byPlugin: func(db *gorm.DB, at place) error {
				_, err := gormplugin.Delete(db, &gormtree.Suite{}, at.row.ID)
				return err
			},
		},
	}
	moveAll := countedWrite{
		byHand: func(ctx context.Context, tree *gormtree.Tree, at place) error {
			return tree.MoveAllByHand(ctx, at.ids(), at.elsewhere.ID)
		},
		byPlugin: func(db *gorm.DB, at place) error {
			return db.Model(&gormtree.Suite{}).Where("id IN ?", at.ids()).Update("parent_id", at.elsewhere.ID).Error
		},
	}
	for _, n := range movedAtOnce {
		goal := 0.0
		if n == 1 {
			goal = 5
		}
		writes = append(writes, moveAll.of(fmt.Sprintf("move-%d", n), fmt.Sprintf("move of %d row(s) by one statement", n), goal, 0, n))
	}
	return writes
}

// of returns the write with a goal, a number of rows and a shape.
func (w countedWrite) of(id, name string, goal float64, below, rows int) countedWrite {
	w.id, w.name, w.goal, w.below, w.rows = id, name, goal, below, rows
	return w
}

// countWrite makes a write in each way, and returns how many statements each took.
func countWrite(ctx context.Context, tree *gormtree.Tree, name string, w countedWrite) (map[string]float64, error) {
	sent := make(map[string]float64)
	for way, write := range map[string]func(at place) (float64, error){
		writtenByHand: func(at place) (float64, error) {
			return countInside(ctx, tree.Plain, func() error { return w.byHand(ctx, tree, at) })
		},
		writtenAlone: func(at place) (float64, error) {
			return countInside(ctx, tree.Guarded, func() error { return w.byPlugin(tree.Guarded.WithContext(ctx), at) })
		},
		writtenTogether: func(at place) (float64, error) {
			held, err := holdPlan(ctx, tree)
			if err != nil {
				return 0, err
			}
			n, err := countInside(ctx, tree.Guarded, func() error {
				return gormplugin.Transaction(held.Context(), tree.Guarded, func(tx *gorm.DB) error { return w.byPlugin(tx, at) })
			})
			return n, errors.Join(err, held.Release(ctx))
		},
	} {
		at, err := makePlace(ctx, tree, name+" "+way, w)
		if err != nil {
			return nil, err
		}
		if sent[way], err = write(at); err != nil {
			return nil, fmt.Errorf("%s: %w", way, err)
		}
	}
	return sent, nil
}

// makePlace creates the rows of one write, three levels below the root row.
func makePlace(ctx context.Context, tree *gormtree.Tree, name string, w countedWrite) (at place, err error) {
	top, err := tree.Chain(ctx, name, "folder")
	if err != nil {
		return at, err
	}
	db := tree.Guarded.WithContext(ctx)
	at.elsewhere = gormtree.Suite{ParentID: top.ParentID, Name: "elsewhere"}
	if err := db.Create(&at.elsewhere).Error; err != nil {
		return at, err
	}
	at.rows = make([]gormtree.Suite, max(w.rows, 1))
	for i := range at.rows {
		at.rows[i] = gormtree.Suite{ParentID: &top.ID, Name: fmt.Sprint("row-", i)}
	}
	if err := db.Create(&at.rows).Error; err != nil {
		return at, err
	}
	at.row = at.rows[0]
	above := at.row.ID
	for range w.below {
		child := gormtree.Suite{ParentID: &above, Name: "child"}
		if err := db.Create(&child).Error; err != nil {
			return at, err
		}
		above = child.ID
	}
	return at, nil
}

// countInside returns how many statements do sends on db's connection, without BEGIN and COMMIT.
func countInside(ctx context.Context, db *gorm.DB, do func() error) (float64, error) {
	before, err := gormtree.StatementsInside(ctx, db)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := gormtree.StatementsInside(ctx, db)
	// The first reading is a statement, too.
	return float64(after - before - 1), err
}
