package gormplugintest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
	"pgregory.net/rapid"
)

// Checks sets how many runs the state machine has on each kind of table, for a test binary whose
// command line does not. Call it before the tests run.
func Checks() error { return flag.Set("rapid.checks", "30") }

// suiteDepth is how deep a row of suites may lie in the state machine.
const suiteDepth = 6

// machine is a state machine over all writes: it draws statements, runs them by themselves, in
// transactions and behind savepoints, by several plugins in turn, and compares the whole table with
// a [forest] after each. A statement that the forest refuses fails for one of its reasons, and
// changes nothing.
type machine struct {
	*rapid.T
	table  *table
	worlds []*world
	// trees are the two trees of a run, by the numbers that nodes have.
	trees [2]any
	forest
	// keys are the rows' and leafKeys the leaves', by the numbers of nodes. -1 is a key that no row
	// has.
	keys     map[int]any
	leafKeys map[int]any
	last     int
	// open is set in a transaction, and knows under the context of such a request.
	open, knows bool
	// images are rows as they were read some time, for Save.
	images []image
	// requests are contexts that know rows from looking them up some time, by world.
	requests map[*world]context.Context
}

// statement is a write that was drawn.
type statement struct {
	what string
	run  func(db *gorm.DB) error
	// after is what the tables are once it has succeeded, and reasons why it does not.
	after   forest
	reasons []error
	// may are reasons for which it can be refused, too.
	may []error
	// claims are the places that it needs exclusively, by tree, if it changes any.
	claims map[int][]string
	// parts is set where GORM makes several statements of it.
	parts bool
	// top is set where rows come to the top: MySQL asks for others there after the write.
	top bool
	// told, if set, looks at what the caller's structs say after a success.
	told func(f forest)
}

// checkMachine runs the machine on every kind of table.
func checkMachine(t *testing.T, d Database) {
	for _, s := range shapes() {
		t.Run(s.name, func(t *testing.T) { runMachine(t, d, s) })
	}
}

// runMachine runs the machine on one kind of table.
func runMachine(t *testing.T, d Database, s shape) {
	option := gormplugin.Model(s.model, gormplugin.MaxDepth(s.depth))
	options := []gormplugin.Option{option}
	if s.leaf != nil {
		options = append(options, gormplugin.Leaf(s.leaf, s.model))
	}
	var worlds []*world
	for i, config := range []gorm.Config{{}, {PrepareStmt: true}, {SkipDefaultTransaction: true, TranslateError: true}, {PrepareStmt: true, SkipDefaultTransaction: true}} {
		if s.scarce {
			config.NamingStrategy = schema.NamingStrategy{TablePrefix: "machine_"}
		}
		// The last one has one connection.
		worlds = append(worlds, machineWorld(t, d, settings{config: config, connections: i / 3}, options))
	}
	db := worlds[0].db
	worlds[0].must(gormplugin.AutoMigrate(db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
	x, err := newTable(db, s)
	worlds[0].must(err)
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{
			T: t, table: x, worlds: worlds, keys: make(map[int]any), leafKeys: make(map[int]any), requests: make(map[*world]context.Context),
			forest: forest{rows: make(map[int]node), leaves: make(map[int]node), room: s.room, depth: s.depth, byIDs: x.path == ""},
		}
		for i := range m.trees {
			m.trees[i] = s.tree()
		}
		most := 30
		switch {
		case s.scarce:
			most = 10
		case s.leaf != nil:
			most = 80
		}
		for range rapid.IntRange(1, most).Draw(t, "steps") {
			m.step()
		}
	})
}

// step does one thing, and compares.
func (m *machine) step() {
	w := pick(m, m.worlds, "world")
	w.trace.reset()
	switch rapid.IntRange(0, 9).Draw(m.T, "kind of step") {
	case 0:
		m.look(w)
	case 1, 2, 3:
		m.transact(w)
	default:
		m.alone(w)
	}
	if trees, err := w.locker.Trees(m.Context()); err != nil || len(trees) > 0 {
		m.Fatalf("locks are left in %v (%v)", trees, err)
	}
	m.compare(w.db)
}

// session draws the DB on which statements of a world run. What a request knows may be outdated: it
// then takes locks that it does not need.
func (m *machine) session(w *world) *gorm.DB {
	db := w.db.WithContext(m.Context())
	m.knows = false
	if ctx := m.requests[w]; ctx != nil && rapid.Bool().Draw(m.T, "as the request") {
		db, m.knows = w.db.WithContext(ctx), true
	}
	if rapid.IntRange(0, 3).Draw(m.T, "session") == 0 {
		db = db.Session(&gorm.Session{PrepareStmt: true})
	}
	return db
}

// alone runs one statement by itself: its locks come before its transaction, and go after it.
func (m *machine) alone(w *world) {
	db := m.session(w)
	s := m.draw()
	m.Logf("%s", s.what)
	err := s.run(db)
	m.judge(db, s, err)
	events := w.trace.String()
	if err == nil && s.claims != nil && !s.parts && !m.knows && !placing.MatchString(events) || err == nil && s.claims == nil && strings.Contains(events, "grant") {
		m.Fatalf("%s: events: %s", s.what, events)
	}
	m.settled(events)
	m.asserted(w, s, 0)
}

// placing are the events of a statement that changes places.
var placing = regexp.MustCompile(`^(begin commit )?(grant )+begin commit( release)+$`)

// settled checks that locks were let go once, and never within a transaction.
func (m *machine) settled(events string) {
	open, held := 0, 0
	for _, e := range strings.Fields(events) {
		switch e {
		case "begin":
			open++
		case "commit", "rollback":
			open--
		case "grant":
			held++
		case "release":
			if held--; open != 0 {
				m.Fatalf("locks were let go before the end: %s", events)
			}
		}
	}
	if open != 0 || held != 0 {
		m.Fatalf("something is left: %s", events)
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

// errBack has a transaction, or a part of it, taken back.
var errBack = errors.New("taken back")

// transact runs a few statements in a transaction: each as it is or behind a savepoint, and each
// savepoint, and the whole, to stay or to be taken back.
func (m *machine) transact(w *world) {
	db := m.session(w)
	before := m.snapshot()
	m.open = true
	defer func() { m.open = false }()
	var claims []string
	certain := !m.knows
	run := func(tx *gorm.DB) error {
		for range rapid.IntRange(1, 4).Draw(m.T, "statements") {
			if m.within(w, tx, &claims) != nil {
				certain = false
			}
			m.held(w, claims, certain)
		}
		if rapid.IntRange(0, 3).Draw(m.T, "back") == 0 {
			return errBack
		}
		return nil
	}
	var err error
	switch rapid.IntRange(0, 2).Draw(m.T, "by") {
	case 0:
		m.Logf("Transaction")
		err = db.Transaction(run)
	case 1:
		m.Logf("the plugin's Transaction")
		err = gormplugin.Transaction(db.Statement.Context, db, run)
	default:
		m.Logf("Begin")
		tx := db.Begin()
		defer tx.Rollback()
		if err = errors.Join(tx.Error, run(tx)); err != nil {
			err = errors.Join(err, tx.Rollback().Error)
		} else {
			err = tx.Commit().Error
		}
	}
	m.Logf("end: %v", err)
	if err != nil && !errors.Is(err, errBack) {
		m.Fatalf("the transaction: %v", err)
	}
	if err != nil {
		m.restore(before)
	}
	m.settled(w.trace.String())
}

// within runs one statement of a transaction. What fails is behind a savepoint on PostgreSQL, which
// runs nothing more in a transaction after an error.
func (m *machine) within(w *world, tx *gorm.DB, claims *[]string) (err error) {
	s := m.draw()
	before := m.snapshot()
	nested := rapid.Bool().Draw(m.T, "nested") || len(s.reasons) > 0 && w.db.Name() == "postgres"
	back := nested && rapid.IntRange(0, 3).Draw(m.T, "nested back") == 0
	from := len(w.trace.ran())
	m.Logf("- %s, behind a savepoint: %t, taken back: %t", s.what, nested, back)
	if !nested {
		err = s.run(tx)
		m.judge(tx, s, err)
	} else {
		end := tx.Transaction(func(tx *gorm.DB) error {
			err = s.run(tx)
			m.judge(tx, s, err)
			if err == nil && back {
				return errBack
			}
			return err
		})
		if !errors.Is(end, err) && !errors.Is(end, errBack) {
			m.Fatalf("%s: the savepoint: %v", s.what, end)
		}
		if back {
			m.restore(before)
		}
	}
	m.asserted(w, s, from)
	if err == nil {
		for tree, paths := range s.claims {
			for _, p := range paths {
				*claims = append(*claims, fmt.Sprintf("%d%s", tree, foldPath(p)))
			}
		}
	}
	m.compare(tx)
	return err
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
		if err != nil {
			m.Fatal(err)
		}
		snapshot, err := w.locker.Snapshot(m.Context(), domain)
		if err != nil {
			m.Fatal(err)
		}
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

// snapshot and restore keep what a rollback brings back.
func (m *machine) snapshot() machine {
	before := *m
	before.keys, before.leafKeys = maps.Clone(m.keys), maps.Clone(m.leafKeys)
	return before
}

func (m *machine) restore(before machine) {
	m.forest, m.keys, m.leafKeys = before.forest, before.keys, before.leafKeys
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

// actual reads both trees.
func (m *machine) actual(db *gorm.DB) (found [2][]actual) {
	for i, tree := range m.trees {
		rows, err := m.table.read(db.Session(&gorm.Session{NewDB: true}), tree)
		if err != nil {
			m.Fatal(err)
		}
		found[i] = rows
	}
	return found
}

// compare compares all rows of both trees with the forest.
func (m *machine) compare(db *gorm.DB) {
	var got, want []string
	for i, rows := range m.actual(db) {
		for _, r := range rows {
			if m.table.isNone(r.parent) {
				r.parent = ""
			}
			if !r.live {
				r.path, r.ids, r.version = "", "", 0
			}
			got = append(got, fmt.Sprintf("%d %+v", i, r))
		}
	}
	for id, n := range m.rows {
		r := actual{key: m.table.text(m.keys[id]), name: n.name, note: n.note, live: !n.dead}
		if n.parent != 0 {
			r.parent = m.table.text(m.keys[n.parent])
		}
		if line, err := m.line(id); !n.dead && err == nil {
			if m.table.path != "" {
				r.path = m.path(id)
			}
			if m.table.ids != "" {
				for _, at := range line {
					r.ids += "/" + m.table.text(m.keys[at])
				}
			}
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
	if err := db.Session(&gorm.Session{NewDB: true}).Where("suite_id IN ?", keys).Find(&found).Error; err != nil {
		m.Fatal(err)
	}
	for _, c := range found {
		got = append(got, fmt.Sprintf("below %d: %q, %q", c.SuiteID, c.Name, c.Body))
	}
	for _, n := range m.leaves {
		want = append(want, fmt.Sprintf("below %d: %q, %q", m.keys[n.parent], n.name, n.note))
	}
	m.same(got, want)
}
