package gormplugintest

import (
	"fmt"
	"log"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// longList is a list of more values than an index is sure to be used for, by their placeholders.
var longList = regexp.MustCompile(`\w+"? IN \(\$\d+(,\$\d+){20}`)

// literals are values that a statement has in place of variables.
var literals = regexp.MustCompile(`'[^']*'|\b\d+\b`)

// checkPortions has statements hit very many rows: none that the driver is given grows with them.
// A log that is to have no values has none of theirs.
func checkPortions(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	var said strings.Builder
	db := w.db.Session(&gorm.Session{Logger: logger.New(log.New(&said, "", 0), logger.Config{LogLevel: logger.Info, ParameterizedQueries: true})})
	// Both are more than one portion, and neither fills its last one.
	longest := make(map[int]int)
	for _, n := range []int{1001, 1600} {
		parent, other := w.broad(fmt.Sprint("from", n), n), w.suite(w.root, fmt.Sprint("to", n))
		w.trace.reset()
		w.hits(db.Model(&Suite{}).Where("parent_id = ?", parent.ID).Update("parent_id", other.ID), int64(n))
		w.hits(db.Where("parent_id = ?", other.ID).Delete(&Suite{}), int64(n))
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, other.Path) {
				t.Fatalf("the log has values: %.300s", line)
			}
		}
		for _, s := range w.trace.ran() {
			longest[n] = max(longest[n], len(literals.ReplaceAllString(s, "?")))
			if list := longList.FindString(s); list != "" && w.db.Name() == "postgres" {
				t.Errorf("a planner without statistics compares each row of the table with each value of %s…", list)
			}
		}
	}
	if longest[1001] != longest[1600] {
		t.Errorf("but for its values, the longest statement has %d bytes for 1001 rows and %d for 1600", longest[1001], longest[1600])
	}
	newWorld(t, d, settings{config: gorm.Config{SkipDefaultTransaction: true}}).partsAreOne()
	// Stores take few grants of one owner: 120 in etcd.
	const statements, most = 100, 50
	tx := w.db.Begin()
	for i := range statements {
		w.must(tx.Create(&Suite{ParentID: &w.root.ID, Name: fmt.Sprint("one by one ", i)}).Error)
	}
	snapshot, err := w.locker.Snapshot(t.Context(), w.tree())
	w.must(err)
	if n := len(snapshot.Holders); n > most || !strings.Contains(w.held(), "X /one by one 0") {
		t.Errorf("%d statements of a transaction have %d grants, want %d at most", statements, n, most)
	}
	w.must(tx.Commit().Error)
	w.nothingHeld()
}

// partsAreOne has the second part of an UPDATE fail that leaves its rows where they are. GORM has
// begun no transaction for it, but what the first part has written must not stay.
func (w *world) partsAreOne() {
	parent := w.broad("parts", 501)
	w.trace.reset()
	w.trace.intercept(func(c call) error {
		if c.kind == "exec" && !c.after && slices.ContainsFunc(w.trace.ran(), func(s string) bool { return strings.HasPrefix(s, "UPDATE") && strings.Contains(s, "note") }) {
			return errFailed
		}
		return nil
	})
	children := w.db.Model(&Suite{}).Where("parent_id = ?", parent.ID)
	err := children.Session(&gorm.Session{}).Updates(map[string]any{"parent_id": parent.ID, "note": "new"}).Error
	w.trace.intercept(nil)
	testerr.Is(w.T, "the second part", err, errFailed)
	var changed int64
	w.must(w.db.Model(&Suite{}).Where("parent_id = ? AND note = ?", parent.ID, "new").Count(&changed).Error)
	if changed > 0 {
		w.Errorf("%d rows keep what the first part has written", changed)
	}
}
