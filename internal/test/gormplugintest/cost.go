package gormplugintest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// cost is how many statements a write takes at most, as the page about the plugin says, and how
// many of them write.
type cost struct {
	name         string
	most, writes int
	// again is what every further hundred rows cost, of which one statement writes.
	again int
	do    func(db *gorm.DB, s, other *Suite) error
}

// costs are those of writes of a row with descendants. A table of leaves with paths costs one
// statement that writes and, on SQLite, one that looks for room. Where paths grow, one looks for
// room in the table itself. Where looks is set, a look below a row that moves costs no statement of
// its own.
func costs(looks bool) []cost {
	move := 5
	if looks {
		move--
	}
	return []cost{
		{"a note", 1, 1, 0, func(db *gorm.DB, s, _ *Suite) error { return db.Model(&Suite{ID: s.ID}).Update("note", "n").Error }},
		{"Save of a row that stays", 2, 1, 0, func(db *gorm.DB, s, _ *Suite) error {
			s.Note = "n"
			return db.Save(s).Error
		}},
		// MySQL reads the row once more, under its lock: the transaction's snapshot may be old.
		{"Save in a transaction of a row that stays", 3, 1, 0, func(db *gorm.DB, s, _ *Suite) error {
			s.Note = "n"
			return db.Transaction(func(tx *gorm.DB) error { return tx.Save(s).Error })
		}},
		{"create", 3, 1, 0, func(db *gorm.DB, s, _ *Suite) error { return db.Create(&Suite{ParentID: &s.ID, Name: "new"}).Error }},
		{"Save of another name", move + 1 + 2, 2 + 1, 0, func(db *gorm.DB, s, _ *Suite) error {
			s.Name = "longer " + s.Name
			return db.Save(s).Error
		}},
		{"Updates of a key in a condition", move + 1 + 2, 2 + 1, 0, func(db *gorm.DB, s, _ *Suite) error {
			return db.Model(&Suite{}).Where("id = ?", fmt.Sprint(s.ID)).Updates(map[string]any{"name": "longer " + s.Name}).Error
		}},
		{"Updates in a transaction", move + 1 + 2, 2 + 1, 0, func(db *gorm.DB, s, _ *Suite) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Model(s).Updates(&Suite{Name: "longer " + s.Name}).Error })
		}},
		{"Delete in a transaction", 5, 2, 0, func(db *gorm.DB, s, _ *Suite) error {
			return db.Transaction(func(tx *gorm.DB) error { return tx.Delete(s).Error })
		}},
		{"Delete of a key", 5, 2, 0, func(db *gorm.DB, s, _ *Suite) error { return db.Delete(&Suite{}, s.ID).Error }},
		{"Rename to a name of the same length", move + 2, 2 + 1, 0, func(db *gorm.DB, s, _ *Suite) error {
			return gormplugin.Rename(db, s, s.ID, "n"+s.Name[1:])
		}},
		{"Rename", move + 1 + 2, 2 + 1, 0, func(db *gorm.DB, s, _ *Suite) error { return gormplugin.Rename(db, s, s.ID, "longer "+s.Name) }},
		{"Move", move + 1 + 2, 2 + 1, 0, func(db *gorm.DB, s, other *Suite) error {
			return gormplugin.Move(db, s, s.ID, gormplugin.Below(other.ID))
		}},
		{"Delete", 5, 2, 0, func(db *gorm.DB, s, _ *Suite) error { _, err := gormplugin.Delete(db, s, s.ID); return err }},
		{"Copy", 13, 3, 2, func(db *gorm.DB, s, other *Suite) error {
			_, err := gormplugin.Copy(db, &Suite{}, s.ID, gormplugin.Below(other.ID), gormplugin.CopyLeaves(&Case{}, nil))
			return err
		}},
	}
}

// checkCosts counts the statements of writes of a row with few descendants, and of one with many.
func checkCosts(t *testing.T, d Database) {
	// Its locking reads see the newest rows.
	looks := d.Dialector(nil).Name() == "mysql"
	for _, c := range costs(looks) {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, d, settings{})
			other := w.build("/other")
			// The first change of a subtree asks some databases for the name of an index.
			w.build("/first/x")
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/first").ID, "the first one"))
			few := 0
			for i, n := range []int{10, 500, 10} {
				s, want := w.broad(fmt.Sprint("top", i), n), few
				db := w.db
				if i == 2 {
					db = w.resolved(s, other)
					if c.name != "a note" && !strings.HasSuffix(c.name, "of a row that stays") {
						want-- // A request that has looked the rows up saves one.
					}
				}
				w.trace.reset()
				w.must(c.do(db, s, other))
				all, writes := w.counted()
				if sql := strings.Join(w.trace.ran(), ";"); i == 2 && strings.Contains(sql, "RECURSIVE") {
					t.Errorf("rows that were looked up are looked for again: %s", sql)
				}
				if more := (n - 1) / 100; c.again > 0 {
					all, writes = all-more*c.again, writes-more
				}
				if few = max(few, all); i > 0 && all != want || all > c.most || writes != c.writes {
					t.Errorf("with %d descendants, %d statements, of which %d write, want %d of %d", n, all, writes, c.writes, max(want, all))
				}
			}
		})
	}
}

// counted is how many statements there were, and how many of them write. One that makes the
// transaction the database's only writer, where there are no row locks, is none.
func (w *world) counted() (all, writes int) {
	for _, sql := range w.trace.ran() {
		first, rest, statement := strings.Cut(strings.TrimLeft(sql, "("), " ")
		if !statement || strings.HasSuffix(rest, "WHERE 1 = 0") {
			continue
		}
		all++
		if first != "SELECT" && first != "WITH" {
			writes++
		}
	}
	return all, writes
}

// resolved is a request that has looked rows up by their ids, as the middleware does before its
// handler writes.
func (w *world) resolved(rows ...*Suite) *gorm.DB {
	w.Helper()
	resolver := w.plugin.Resolver(&Suite{}).(preparer)
	ctx := resolver.Prepare(w.Context())
	for _, s := range rows {
		_, err := resolver.Resolve(ctx, fmt.Sprint(s.ID))
		w.must(err)
	}
	return w.db.WithContext(ctx)
}

// broad makes a row with n children, and a leaf below the first of them.
func (w *world) broad(name string, n int) *Suite {
	w.Helper()
	top := w.suite(w.root, name)
	rows := make([]*Suite, n)
	for i := range rows {
		rows[i] = &Suite{ParentID: &top.ID, Name: fmt.Sprint(i)}
	}
	w.must(w.db.CreateInBatches(rows, 125).Error)
	w.must(w.db.Create(&Case{SuiteID: rows[0].ID, Name: "t"}).Error)
	return top
}
