package gormplugintest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"gorm.io/gorm"
)

// settled checks that locks were released once, and never within a transaction.
func (m *machine) settled(events string) {
	if problem := unsettled(strings.Fields(events)); problem != "" {
		m.Fatalf("%s: %s", problem, events)
	}
}

// asserted reads what the driver was given to run: what a statement writes that changes places,
// from a position on, lies within a transaction, and after a read under row locks, or after the
// write that keeps all others out.
func (m *machine) asserted(w *world, s statement, from int) {
	ran := w.trace.ran()
	open, safe := false, false
	for i, sql := range ran {
		first, _, _ := strings.Cut(strings.TrimLeft(sql, "("), " ")
		locks := slices.ContainsFunc([]string{"FOR UPDATE", "FOR SHARE", "LOCK IN SHARE MODE"}, func(l string) bool { return strings.Contains(sql, l) })
		switch {
		case sql == "begin":
			open, safe = true, false
		case sql == "commit", sql == "rollback":
			open = false
		case strings.Contains(sql, "WHERE 1 = 0"), first == "SELECT" && locks:
			safe = true
		case s.claims != nil && !s.top && i >= from && (first == "INSERT" || first == "UPDATE" || first == "DELETE") && (!open || !safe):
			m.Fatalf("%s: writes what was not asserted (%d):\n%s", s.what, i, strings.Join(ran, "\n"))
		}
	}
}

// judge compares the end of a statement with what it has to be.
func (m *machine) judge(db *gorm.DB, s statement, err error) {
	switch {
	case errors.Is(err, errNoRow):
		m.Fatalf("%s: %v", s.what, err)
	case len(s.reasons) > 0 && !matches(err, s.reasons):
		m.Fatalf("%s: got the error %v, want one of %v", s.what, err, s.reasons)
	case len(s.reasons) == 0 && err != nil && !matches(err, s.may):
		m.Fatalf("%s: %v", s.what, err)
	case err == nil:
		m.forest = s.after
		m.bind(db)
		if s.told != nil {
			s.told(m.forest)
		}
	}
}

// held checks that a transaction holds what its statements have needed so far, and nothing else if
// none has failed.
func (m *machine) held(w *world, claims []string, certain bool) {
	if m.table.path == "" || m.table.scarce {
		return // locks go by ids
	}
	var held []string
	for i, tree := range m.trees {
		domain, err := pathlock.NewTree(m.table.schema.Table, m.table.text(tree))
		testerr.Must(m, err)
		snapshot, err := w.locker.Snapshot(m.Context(), domain)
		testerr.Must(m, err)
		for _, h := range snapshot.Holders {
			for _, c := range h.Claims {
				if c.Mode == pathlock.ModeX {
					held = append(held, fmt.Sprintf("%d%s", i, foldPath(c.Path.String())))
				}
			}
		}
	}
	covered := func(path string, by []string) bool {
		return slices.ContainsFunc(by, func(other string) bool { return path == other || strings.HasPrefix(path, other+"/") })
	}
	for _, claim := range claims {
		if !covered(claim, held) {
			m.Fatalf("%s is not held; held are %q", claim, held)
		}
	}
	for _, h := range held {
		if certain && !slices.Contains(claims, h) {
			m.Fatalf("%s is held; needed are %q", h, claims)
		}
	}
}

// foldPath folds every name of a path, as lock keys are; the root's is empty.
func foldPath(path string) (folded string) {
	for name := range strings.SplitSeq(path, "/") {
		if name != "" {
			folded += "/" + pathlock.Fold(name)
		}
	}
	return folded
}

// bind finds the keys that the database has given new rows: no two siblings share a name.
func (m *machine) bind(db *gorm.DB) {
	found := m.actual(db)
	for again := true; again; {
		again = false
		for _, id := range m.live() {
			n := m.rows[id]
			if m.keys[id] != nil || n.parent != 0 && m.keys[n.parent] == nil {
				continue
			}
			for _, r := range found[n.tree] {
				if r.live && r.name == n.name && (n.parent == 0 && m.table.isNone(r.parent) || n.parent != 0 && r.parent == m.table.text(m.keys[n.parent])) {
					m.keys[id], again = m.table.keyOf(r.key), true
				}
			}
			if m.keys[id] == nil {
				m.Fatalf("there is no row %s", m.path(id))
			}
		}
	}
}

// actual reads all trees.
func (m *machine) actual(db *gorm.DB) (found [][]actual) {
	for _, tree := range m.trees {
		rows, err := m.table.read(db.Session(&gorm.Session{NewDB: true}), tree)
		testerr.Must(m, err)
		found = append(found, rows)
	}
	return found
}

// compare compares all rows of all trees with the forest.
func (m *machine) compare(db *gorm.DB) {
	var got, want []string
	for i, rows := range m.actual(db) {
		for _, r := range rows {
			if m.table.isNone(r.parent) {
				r.parent = ""
			}
			if !r.live {
				r.path, r.ids, r.version, r.level = "", "", 0, 0
			}
			got = append(got, fmt.Sprintf("%d %+v", i, r))
		}
	}
	for id, n := range m.rows {
		r := actual{key: m.table.text(m.keys[id]), name: n.name, note: n.note, live: !n.dead}
		if n.parent != 0 {
			r.parent = m.table.text(m.keys[n.parent])
		}
		if _, err := m.line(id); !n.dead && err == nil {
			if m.table.path != "" {
				r.path = m.form.of(m.path(id))
			}
			if m.table.ids != "" {
				r.ids = m.table.idsForm.of(m.idPath(id))
			}
			r.level = m.level(m.forest, id)
			if m.table.version != "" {
				r.version = n.version
			}
		}
		want = append(want, fmt.Sprintf("%d %+v", n.tree, r))
	}
	m.same(got, want)
	if m.table.leaf != nil {
		m.compareLeaves(db)
	}
}

// same fails unless two sets of lines are the same.
func (m *machine) same(got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		m.Fatalf("the table is not what it has to be:\n%s", difference(strings.Join(want, "\n"), strings.Join(got, "\n")))
	}
}

// compareLeaves compares the leaves of the rows, the deleted ones' too.
func (m *machine) compareLeaves(db *gorm.DB) {
	var got, want []string
	var keys []any
	for _, key := range m.keys {
		keys = append(keys, key)
	}
	var found []Case
	testerr.Must(m, db.Session(&gorm.Session{NewDB: true}).Where("suite_id IN ?", keys).Find(&found).Error)
	nodes := make(map[string]node)
	for _, n := range m.leaves {
		nodes[fmt.Sprint(m.keys[n.parent], n.name)] = n
	}
	if len(found) != len(nodes) {
		m.Fatalf("there are %d leaves, want %d", len(found), len(nodes))
	}
	for _, is := range found {
		n := nodes[fmt.Sprint(is.SuiteID, is.Name)]
		c := is
		c.Body, c.Version = n.note, int64(n.version)
		if path, ids := m.leafColumns(m.forest, n, is.ID); path+ids != "" { // or it waits for the parent
			c.Column, c.IDs = path, ids
			if m.leafPaths.Depth != "" {
				c.Level = m.level(m.forest, n.parent) + 1
			}
		}
		got, want = append(got, fmt.Sprintf("%+v", is)), append(want, fmt.Sprintf("%+v", c))
	}
	m.same(got, want)
}

// level is what the depth column of a live row holds, 0 where there is none.
func (m *machine) level(f forest, id int) int {
	if m.table.level == "" {
		return 0
	}
	names := strings.Count(f.path(id), "/")
	if f.byIDs {
		line, _ := f.line(id)
		names = len(line)
	}
	return names - 1 + m.table.top
}

// leafColumns is what a leaf's path columns hold, "" where its parent is deleted.
func (m *machine) leafColumns(f forest, n node, key int64) (path, ids string) {
	line, err := f.line(n.parent)
	if err != nil {
		return "", ""
	}
	if m.leafPaths.Path != "" {
		path = m.leafForm.of(f.path(n.parent) + "/" + n.name)
	}
	if m.leafPaths.IDPath != "" {
		for _, at := range line {
			ids += "/" + m.table.text(m.keys[at])
		}
		ids = spellingOf(m.leafPaths.IDPathForm).of(fmt.Sprint(ids, "/", key))
	}
	return path, ids
}
