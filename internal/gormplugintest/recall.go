package gormplugintest

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// resolved is a request that has looked rows up by their ids, as the middleware does before its
// handler writes.
func (w *world) resolved(rows ...*Suite) *gorm.DB {
	w.Helper()
	ctx := w.prepared()
	for _, s := range rows {
		if _, err := w.batch(&Suite{}).Resolve(ctx, text(s.ID)); err != nil {
			w.Fatal(err)
		}
	}
	return w.db.WithContext(ctx)
}

// recalledWrite is a write by a request that knows /a/b/c and /d from looking them up.
type recalledWrite struct {
	name string
	do   func(db *gorm.DB, c, d *Suite) error
}

func recalledWrites() []recalledWrite {
	return []recalledWrite{
		{
			"create", func(db *gorm.DB, c, _ *Suite) error { return db.Create(&Suite{ParentID: &c.ID, Name: "new"}).Error },
		},
		{
			"rename", func(db *gorm.DB, c, _ *Suite) error { return gormplugin.Rename(db, &Suite{}, c.ID, "new") },
		},
		{
			"move", func(db *gorm.DB, c, d *Suite) error {
				return gormplugin.Move(db, &Suite{}, c.ID, gormplugin.Below(d.ID))
			},
		},
		{
			"delete", func(db *gorm.DB, c, _ *Suite) error { _, err := gormplugin.Delete(db, &Suite{}, c.ID); return err },
		},
	}
}

// recallChecks are about what a request's first write believes of what its ids were resolved to.
func recallChecks() []check {
	var checks []check
	for _, write := range recalledWrites() {
		checks = append(checks,
			check{write.name + " reads no more what its ids were resolved to", func(w *world) {
				count := func(db *gorm.DB) int {
					counted := &tally{Interface: logger.Discard}
					w.must(write.do(db.Session(&gorm.Session{Logger: counted}), w.build("/a/b/c"), w.build("/d")))
					return counted.reads
				}
				recalled := count(w.resolved(w.build("/a/b/c"), w.build("/d")))
				w.root = w.newPlan()
				w.build("/a/b/c")
				w.build("/d")
				if unprepared := count(w.db); recalled != unprepared-1 {
					w.Errorf("%d reads, and %d where nothing was read before: want one less", recalled, unprepared)
				}
			}},
		)
	}
	return append(checks,
		check{"a condition beside the id is asked of the database", func(w *world) {
			c, d := w.build("/a/b/c"), w.build("/d")
			request := w.resolved(c, d)
			w.fails(gormplugin.Rename(request.Where("name = ?", "another"), &Suite{}, c.ID, "new"), pathlock.ErrNotFound)
			w.has("/a", "/a/b", "/a/b/c", "/d")
		}},
		check{"a new parent that was deleted since is not there", func(w *world) {
			a, c := w.build("/a"), w.build("/a/b/c")
			request := w.resolved(a, c)
			w.must(w.db.Delete(&Suite{}, c.ID).Error)
			w.fails(request.Model(&Suite{}).Where("id = ?", a.ID).Update("parent_id", c.ID).Error, pathlock.ErrNotFound)
		}},
		check{"Rename and Move say where the row is then", func(w *world) {
			c, d := w.build("/a/b/c"), w.build("/d")
			for _, db := range []*gorm.DB{w.db, w.resolved(c, d)} {
				told := Suite{}
				w.must(gormplugin.Rename(db, &told, c.ID, "new"))
				w.isAsRead(told)
				told = Suite{}
				w.must(gormplugin.Move(db, &told, c.ID, gormplugin.Below(d.ID)))
				w.isAsRead(told)
				// It stays where it is.
				told = Suite{}
				w.must(gormplugin.Rename(db, &told, c.ID, "new"))
				w.isAsRead(told)
				w.must(gormplugin.Rename(db, &told, c.ID, "c"))
				w.must(gormplugin.Move(db, &told, c.ID, gormplugin.Below(w.build("/a/b").ID)))
				w.isAsRead(told)
			}
		}},
	)
}

// isAsRead checks that a row is as it stands in the database.
func (w *world) isAsRead(told Suite) {
	w.Helper()
	var read Suite
	w.must(w.db.Take(&read, told.ID).Error)
	if told.PlanID != read.PlanID || *told.ParentID != *read.ParentID || told.Name != read.Name || told.Path != read.Path || told.Version != read.Version {
		w.Errorf("told that the row is %+v, and it is %+v", told, read)
	}
}
