package gormplugintest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// tally is a GORM logger that counts statements.
type tally struct {
	logger.Interface
	mu            sync.Mutex
	reads, writes int
}

// LogMode implements [logger.Interface].
func (c *tally) LogMode(logger.LogLevel) logger.Interface { return c }

// Trace implements [logger.Interface].
func (c *tally) Trace(_ context.Context, _ time.Time, statement func() (string, int64), _ error) {
	sql, _ := statement()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch first, _, _ := strings.Cut(strings.TrimLeft(sql, "("), " "); {
	case first == "SELECT", first == "WITH":
		c.reads++
	case strings.HasSuffix(sql, "WHERE 1 = 0"):
		// It makes the transaction the database's only writer, where there are no row locks.
	default:
		c.writes++
	}
}

// costChecks count the statements of operations on a row with few descendants, and on one with
// many.
func costChecks() []check {
	const few, many = 10, 500
	copied := func(db *gorm.DB, s *Suite, opts ...gormplugin.CopyOption) error {
		_, err := gormplugin.Copy(db, &Suite{}, s.ID, gormplugin.Below(*s.ParentID), append(opts, gormplugin.CopyAs("copy"))...)
		return err
	}
	var checks []check
	for _, c := range []struct {
		name string
		// writes is how many statements write; reads is how many there are where no lock has to be
		// taken and nothing asserted, and 0 otherwise.
		writes, reads int
		do            func(db *gorm.DB, s, other *Suite) error
	}{
		{"Rename", 2, 0, func(db *gorm.DB, s, _ *Suite) error { return gormplugin.Rename(db, s, s.ID, "longer "+s.Name) }},
		{"Move", 2, 0, func(db *gorm.DB, s, other *Suite) error {
			return gormplugin.Move(db, s, s.ID, gormplugin.Below(other.ID))
		}},
		{"Copy", 2, 0, func(db *gorm.DB, s, _ *Suite) error { return copied(db, s) }},
		{"Copy with leaves", 3, 0, func(db *gorm.DB, s, _ *Suite) error { return copied(db, s, gormplugin.CopyLeaves(&Case{}, nil)) }},
		{"Delete", 2, 0, func(db *gorm.DB, s, _ *Suite) error { _, err := gormplugin.Delete(db, s, s.ID); return err }},
		{"Subtree", 0, 2, func(db *gorm.DB, s, _ *Suite) error { return gormplugin.Subtree(db, s, s.ID).Find(&[]Suite{}).Error }},
		{"Leaves", 0, 2, func(db *gorm.DB, s, _ *Suite) error {
			return gormplugin.Leaves(db, &Case{}, s.ID).Find(&[]Case{}).Error
		}},
		{"Children", 0, 1, func(db *gorm.DB, s, _ *Suite) error { return gormplugin.Children(db, s, s.ID).Find(&[]Suite{}).Error }},
		{"Ancestors", 0, 1, func(db *gorm.DB, s, _ *Suite) error { return gormplugin.Ancestors(db, s, s.ID).Find(&[]Suite{}).Error }},
		{"At", 0, 1, func(db *gorm.DB, s, _ *Suite) error {
			return gormplugin.At(db, s, s.PlanID, pathlock.MustParsePath(s.Path)).Take(&Suite{}).Error
		}},
		{"Resolve", 0, 1, func(db *gorm.DB, s, _ *Suite) error { _, err := gormplugin.Resolve(db, s, s.ID); return err }},
	} {
		checks = append(checks, check{c.name, func(w *world) {
			other := w.build("/other")
			// The first change of a subtree asks some databases for the name of an index.
			w.build("/first/x")
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/first").ID, "the first one"))
			total := make(map[int]int)
			for _, n := range []int{few, many} {
				s := w.broad(fmt.Sprint("top", n), n)
				counted := &tally{Interface: logger.Discard}
				w.must(c.do(w.db.Session(&gorm.Session{Logger: counted}), s, other))
				if counted.writes != c.writes {
					w.Errorf("with %d descendants, %d statements write, want %d", n, counted.writes, c.writes)
				}
				if c.writes == 0 && counted.reads != c.reads {
					w.Errorf("with %d descendants, %d statements read, want %d", n, counted.reads, c.reads)
				}
				total[n] = counted.reads + counted.writes
				w.must(w.db.Unscoped().Where("plan_id = ? AND name = 'copy'", w.root.PlanID).Delete(&Suite{}).Error)
			}
			if total[few] != total[many] {
				w.Errorf("%d statements with %d descendants, %d with %d", total[few], few, total[many], many)
			}
		}})
	}
	return checks
}

// broad makes a row with n descendants, half of them children of the last child, and a leaf below
// it.
func (w *world) broad(name string, n int) *Suite {
	w.Helper()
	top := w.suite(w.root, name)
	parent := top
	for _, some := range []int{n / 2, n - n/2} {
		var rows []*Suite
		for i := range some {
			rows = append(rows, &Suite{ParentID: &parent.ID, Name: fmt.Sprint(i)})
		}
		w.must(w.db.CreateInBatches(rows, 125).Error)
		parent = rows[some-1]
	}
	w.must(w.db.Create(&Case{SuiteID: parent.ID, Name: "t"}).Error)
	return top
}
