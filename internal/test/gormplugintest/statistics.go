package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"gorm.io/gorm"
)

// RunWithoutStatistics checks that a database reads no more rows than a write concerns, some times
// each, where it knows nothing of how many rows a table has: before the first ANALYZE, or where a
// table was empty when it looked last.
func RunWithoutStatistics(t *testing.T, d Database) {
	t.Helper()
	migrate(t, d)
	t.Run("long paths", func(t *testing.T) { copyOfLongPaths(t, d) })
	noStatistics(t, open(t, d, settings{}, new(trace)), "suites", "cases")
	w := newWorld(t, d, settings{connections: 1})
	suites, cases := many(w.db), 2
	top, other := w.deep("top", suites, cases), w.suite(w.root, "other")
	ids := func(db *gorm.DB) (ids []int64) {
		w.must(gormplugin.Subtree(db.Unscoped(), &Suite{}, top.ID).Where("id <> ?", top.ID).Pluck("id", &ids).Error)
		return ids
	}
	all := ids(w.db)
	for _, c := range []struct {
		name string
		do   func(db *gorm.DB) error
	}{
		{"Copy", func(db *gorm.DB) error {
			_, err := gormplugin.Copy(db, &Suite{}, top.ID, gormplugin.Below(other.ID), gormplugin.CopyLeaves(&Case{}, nil))
			return err
		}},
		{"CopyAttached", func(db *gorm.DB) error {
			_, err := gormplugin.Copy(db, &Suite{}, top.ID, gormplugin.Below(other.ID), gormplugin.CopyAs("2"), gormplugin.CopyAttached(func(_, pairs *gorm.DB) error {
				var rows []struct{ OldID, NewID int64 }
				return pairs.Scan(&rows).Error
			}))
			return err
		}},
		{"Rename", func(db *gorm.DB) error { return gormplugin.Rename(db, &Suite{}, top.ID, "another") }},
		{"an update of many", func(db *gorm.DB) error { return db.Model(&Suite{}).Where("id", all).Update("note", "n").Error }},
		{"a deletion of many", func(db *gorm.DB) error { return db.Where("id", all).Delete(&Suite{}).Error }},
		{"a restoration of many", func(db *gorm.DB) error {
			return db.Unscoped().Model(&Suite{}).Where("id", all).Update("deleted", nil).Error
		}},
		{"a move of many", func(db *gorm.DB) error {
			return db.Model(&Suite{}).Where("id", all).Update("parent_id", other.ID).Error
		}},
		{"Delete", func(db *gorm.DB) error { _, err := gormplugin.Delete(db, &Suite{}, other.ID); return err }},
	} {
		t.Run(c.name, func(t *testing.T) { w.within(t, suites+suites*cases, c.do) })
	}
}

// Tome is a row of a tree whose columns and indexes AutoMigrate makes, with a path that may be
// long: a planner then expects long rows, and few of them.
type Tome struct {
	ID       int64
	PlanID   int64  `pathlock:"tree" gorm:"not null"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:255;not null"`
	Path     string `pathlock:"path" gorm:"size:65536;not null"`
	Deleted  gorm.DeletedAt
}

// Sheet is a leaf below a tome.
type Sheet struct {
	ID     int64
	TomeID int64  `pathlock:"parent" gorm:"not null"`
	Name   string `pathlock:"name" gorm:"size:255;not null"`
}

// Slip is another leaf below a tome. Its index over the tome leaves out deleted slips. There are
// none: SQLite says how it would find them.
type Slip struct {
	ID      int64
	TomeID  int64  `pathlock:"parent" gorm:"not null"`
	Name    string `pathlock:"name" gorm:"size:255;not null"`
	Path    string `pathlock:"path" gorm:"size:500;not null"`
	Deleted gorm.DeletedAt
}

// copyOfLongPaths copies and renames tomes and leaves, without statistics.
func copyOfLongPaths(t *testing.T, d Database) {
	w := machineWorld(t, d, settings{}, []gormplugin.Option{gormplugin.Model(&Tome{}), gormplugin.Leaf(&Sheet{}, &Tome{}), gormplugin.Leaf(&Slip{}, &Tome{})})
	w.must(gormplugin.AutoMigrate(w.db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
	noStatistics(t, w.db, "tomes", "sheets")
	top := &Tome{PlanID: 1, Name: "top"}
	w.must(w.db.Create(top).Error)
	n := many(w.db)
	var sheets []*Sheet
	for _, id := range w.plant(shape{model: Tome{}}, top.ID, n, 50) {
		sheets = append(sheets, &Sheet{TomeID: id, Name: "sheet"})
	}
	w.must(w.db.CreateInBatches(sheets, 400).Error)
	w.within(t, 2*n, func(db *gorm.DB) error {
		copied, err := gormplugin.Copy(db, &Tome{}, top.ID, gormplugin.Top(), gormplugin.CopyAs("copy"), gormplugin.CopyLeaves(&Sheet{}, nil), gormplugin.CopyLeaves(&Slip{}, nil))
		if want := int64(1 + n); err == nil && copied != want {
			t.Errorf("%d rows were copied, want %d", copied, want)
		}
		return err
	})
	w.within(t, 2*n, func(db *gorm.DB) error { return gormplugin.Rename(db, top, top.ID, "renamed") })
}

// many is how many rows it takes to tell reading all of them from reading those that a write
// concerns. SQLite says how it reads, which without statistics does not depend on their number.
func many(db *gorm.DB) int {
	if db.Name() == "sqlite" {
		return 200
	}
	return 1000
}

// noStatistics has a database learn nothing more of tables, which are empty.
func noStatistics(t *testing.T, db *gorm.DB, tables ...string) {
	t.Helper()
	for _, table := range tables {
		var err error
		switch db.Name() {
		case "mysql":
			err = gormplugin.AllowRawWrites(db).Exec("ALTER TABLE " + table + " STATS_PERSISTENT = 1, STATS_AUTO_RECALC = 0").Error
		case "postgres":
			err = gormplugin.AllowRawWrites(db).Exec("ALTER TABLE " + table + " SET (autovacuum_enabled = off)").Error
		}
		testerr.Must(t, err)
	}
}

// within carries out a write to so many rows, of which the database reads each some times.
func (w *world) within(t *testing.T, rows int, do func(db *gorm.DB) error) {
	t.Helper()
	var read int64
	w.trace.reset()
	err := w.db.Transaction(func(tx *gorm.DB) error {
		before := rowsRead(t, tx)
		if err := do(tx); err != nil {
			return err
		}
		read = rowsRead(t, tx) - before
		return nil
	})
	testerr.None(t, err)
	if t.Log(read, "rows were read"); read > int64(100*rows) {
		t.Errorf("%d rows were read for %d, want %d at most", read, rows, 100*rows)
	}
	if w.db.Name() == "sqlite" {
		for _, s := range w.trace.ran() {
			w.scansNothing(t, s)
		}
	}
}

// rowsRead is how many rows were read in the transaction, or in its session; none where the
// database does not count them.
func rowsRead(t *testing.T, tx *gorm.DB) (read int64) {
	t.Helper()
	var err error
	switch tx.Name() {
	case "mysql":
		var counts []struct{ Value int64 }
		err = tx.Raw("SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%'").Scan(&counts).Error
		for _, c := range counts {
			read += c.Value
		}
	case "postgres":
		err = tx.Raw("SELECT COALESCE(SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)), 0) FROM pg_stat_xact_user_tables").Row().Scan(&read)
	}
	testerr.None(t, err)
	return read
}

// scansNothing checks that SQLite looks up in an index what a statement reads of a guarded table,
// and in another one than that of all live rows.
func (w *world) scansNothing(t *testing.T, statement string) {
	t.Helper()
	verb, _, _ := strings.Cut(statement, " ")
	if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}, verb) || strings.Contains(statement, "1 = 0") {
		return
	}
	var plan []struct{ Detail string }
	if err := gormplugin.AllowRawWrites(w.db).Raw("EXPLAIN QUERY PLAN "+statement, make([]any, strings.Count(statement, "?"))...).Scan(&plan).Error; err != nil {
		t.Error(err)
	}
	for _, step := range plan {
		for _, table := range []string{"suites", "cases", "tomes", "sheets", "c", "p", "s"} {
			if strings.HasPrefix(step.Detail+" ", "SCAN "+table+" ") || step.Detail == "SEARCH "+table+" USING INDEX idx_suites_deleted (deleted=?)" {
				t.Errorf("%s: %.300s", step.Detail, statement)
			}
		}
	}
}

// deep makes n rows below a new one, ten below each, and cases below every row.
func (w *world) deep(name string, n, cases int) *Suite {
	w.Helper()
	top := w.suite(w.root, name)
	var leaves []*Case
	for _, id := range w.plant(shapes()[0], top.ID, n, 10) {
		for i := range cases {
			leaves = append(leaves, &Case{SuiteID: id, Name: fmt.Sprint(i)})
		}
	}
	w.must(w.db.CreateInBatches(leaves, 400).Error)
	return top
}

// plant makes n rows of a shape below one, so many below each, and returns their keys.
func (w *world) plant(s shape, top int64, n, each int) []int64 {
	w.Helper()
	x, keys := w.tableOf(s), []int64{top}
	rows := make([]any, n)
	for i := range rows {
		key := rand.Int64N(1 << 50)
		rows[i] = x.row(map[string]any{"id": key, x.parent: keys[i/each], x.label: fmt.Sprint("s", i)})
		keys = append(keys, key)
	}
	w.must(w.db.CreateInBatches(x.slice(rows), 400).Error)
	return keys[1:]
}
