package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"gorm.io/gorm"
)

// newPlan makes the root row of a tree that nobody else uses.
func (w *world) newPlan() *Suite {
	w.Helper()
	root := &Suite{PlanID: rand.Int64N(1 << 50)}
	w.must(w.db.Create(root).Error)
	return root
}

// must fails the test on an error.
func (w *world) must(err error) {
	w.Helper()
	testerr.Must(w, err)
}

// fails checks that err matches want.
func (w *world) fails(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("got the error %v, want %v", err, want)
	}
}

// suite makes a row below parent.
func (w *world) suite(parent *Suite, name string) *Suite {
	w.Helper()
	s := &Suite{ParentID: &parent.ID, Name: name}
	w.must(w.db.Create(s).Error)
	return s
}

// suiteIn makes a row below the root row on a session.
func (w *world) suiteIn(db *gorm.DB, name string) {
	w.Helper()
	w.must(db.Create(&Suite{ParentID: &w.root.ID, Name: name}).Error)
}

// build makes the rows of a path that are missing, and returns the last one.
func (w *world) build(path string) *Suite {
	w.Helper()
	at := w.root
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		next := new(Suite)
		err := w.db.Where("plan_id = ? AND parent_id = ? AND name = ?", w.root.PlanID, at.ID, name).First(next).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			id := at.ID
			next = &Suite{ParentID: &id, Name: name}
			err = w.db.Create(next).Error
		}
		w.must(err)
		at = next
	}
	return at
}

// file makes a row of the plan's tree of files, below one that is there, unless there is one.
func (w *world) file(path string) *file {
	w.Helper()
	end := strings.LastIndexByte(path, '/')
	f := &file{Tree: w.root.PlanID, Folder: path[:end], Name: path[end+1:]}
	w.must(w.db.FirstOrCreate(f, f).Error)
	return f
}

// paths returns the path columns of the live rows of the plan, without the root's.
func (w *world) paths() string {
	w.Helper()
	var paths []string
	w.must(w.db.Model(&Suite{}).Where("plan_id = ? AND path <> ''", w.root.PlanID).Pluck("path", &paths).Error)
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

// has checks the live rows of the plan.
func (w *world) has(want ...string) {
	w.Helper()
	if got := w.paths(); got != strings.Join(want, " ") {
		w.Errorf("the tree is\n\t%s\nwant\n\t%s", got, strings.Join(want, " "))
	}
}

// problems says what is wrong with the plan, as the independent reader sees it.
func (w *world) problems() []string {
	w.Helper()
	_, found := w.tableOf(shapes()[0]).problems(w.db, w.root.PlanID)
	_, ofFiles := w.tableOf(shape{model: file{}, live: "gone IS NULL"}).problems(w.db, w.root.PlanID)
	return append(found, ofFiles...)
}

// sound checks the plan.
func (w *world) sound() {
	w.Helper()
	if found := w.problems(); len(found) > 0 {
		w.Error(found)
	}
}

// nothingHeld waits until nobody holds or waits any more.
func (w *world) nothingHeld() {
	w.Helper()
	for began := time.Now(); ; {
		trees, err := w.locker.Trees(context.Background())
		if err == nil && len(trees) == 0 {
			return
		}
		if time.Since(began) > 30*time.Second {
			w.Fatalf("locks are left in %v (%v)", trees, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// tree is the lock domain of the plan.
func (w *world) tree() pathlock.Tree {
	w.Helper()
	tree, err := pathlock.NewTree(Namespace, fmt.Sprint(w.root.PlanID))
	w.must(err)
	return tree
}

// held returns what is held in the plan, without the intentions.
func (w *world) held() string {
	w.Helper()
	snapshot, err := w.locker.Snapshot(context.Background(), w.tree())
	w.must(err)
	var claims []string
	for _, h := range snapshot.Holders {
		for _, c := range h.Claims {
			if c.Mode == pathlock.ModeX && !slices.Contains(claims, c.String()) {
				claims = append(claims, c.String())
			}
		}
	}
	return strings.Join(claims, ", ")
}
