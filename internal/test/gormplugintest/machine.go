package gormplugintest

import (
	"context"
	"flag"
	"maps"
	"math"
	"os"
	"regexp"
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

// fewRuns is how many of these a server carries out, which takes ten times as long as SQLite; one
// that differs little from another carries out half of them, as any further driver does. What the
// plugin decides does not depend on the database; what the database makes of it shows in fewer
// runs. With PATHLOCK_TEST_TRIES, it carries out all.
const fewRuns = 8

// suiteDepth is how deep a row of suites may lie in the state machine.
const suiteDepth = 6

// machine is a state machine over all writes: it draws statements, runs them by themselves, in
// transactions and behind savepoints, by several plugins in turn, and compares the whole table with
// a [forest] after each. A statement that the forest refuses fails for one of its reasons,
// and changes nothing.
type machine struct {
	*rapid.T
	table  *table
	worlds []*world
	// trees are the trees of a run, by the numbers that nodes have: two, or the table's only one.
	trees []any
	forest
	// keys are the rows', by the numbers of nodes. -1 is a key that no row has.
	keys map[int]any
	last int
	// stale is set where others write, too, so that rows may have changed when a statement is run.
	stale bool
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
	// byPath is set where rows go by the text of a path.
	byPath bool
	// contradicts is set where a new row states another parent by its path than by its key.
	contradicts bool
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

// options are those of a plugin that guards tables of the kind.
func (s shape) options() []gormplugin.Option {
	model := []gormplugin.ModelOption{gormplugin.MaxDepth(s.depth)}
	if s.sole != "" {
		model = append(model, gormplugin.SingleTree(s.sole))
	}
	options := []gormplugin.Option{gormplugin.Model(s.model, model...), gormplugin.TransactionWait(pathlock.NoWait)}
	if s.leaf != nil {
		options = append(options, gormplugin.Leaf(s.leaf, s.model, s.leafPaths))
	}
	return options
}

// runMachine runs the machine on one kind of table.
func runMachine(t *testing.T, d Database, s shape) {
	options := s.options()
	var worlds []*world
	for i, config := range []gorm.Config{{}, {PrepareStmt: true}, {SkipDefaultTransaction: true, TranslateError: true}, {PrepareStmt: true, SkipDefaultTransaction: true}} {
		if s.scarce {
			config.NamingStrategy = schema.NamingStrategy{TablePrefix: "machine_"}
		}
		// The last one has one connection.
		worlds = append(worlds, machineWorld(t, d, settings{config: config, connections: i / 3}, options))
	}
	db := worlds[0].db
	empty := func(table string) { worlds[0].must(gormplugin.AllowRawWrites(db).Exec("DELETE FROM " + table).Error) }
	if s.leaf != nil && db.Migrator().HasTable("cases") {
		empty("cases") // which another model has filled, below another table
	}
	worlds[0].must(gormplugin.AutoMigrate(db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})))
	x, err := newTable(db, s)
	worlds[0].must(err)
	if _, numbers := s.model.(volume); numbers && db.Name() == "mysql" {
		// In this order the byte after the comma comes before it.
		worlds[0].must(db.Exec("ALTER TABLE volumes MODIFY above VARCHAR(200) COLLATE utf8mb4_unicode_ci").Error)
	}
	runs, failed, most := 0, false, math.MaxInt
	switch {
	case os.Getenv("PATHLOCK_TEST_TRIES") != "":
	case d.Again:
		most = fewRuns / 2
	case !d.SoleWriter:
		most = fewRuns
	}
	rapid.Check(t, func(t *rapid.T) {
		if runs++; runs > most && !failed {
			return
		}
		defer func() { failed = failed || t.Failed() }() // what has failed is repeated
		m := &machine{
			T: t, table: x, worlds: worlds, keys: make(map[int]any), requests: make(map[*world]context.Context),
			forest: x.forest(),
		}
		m.trees = []any{s.tree()}
		if x.sole == "" {
			m.trees = append(m.trees, s.tree())
		} else {
			empty(x.quoted(db))
			if s.leaf != nil {
				empty("cases")
			}
		}
		steps := 30
		switch {
		case s.scarce || s.brief:
			steps = 10
		case s.full:
			steps = 80
		}
		for range rapid.IntRange(1, steps).Draw(t, "steps") {
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

// session draws the DB on which statements of a world run. A request's knowledge may be outdated:
// it then takes locks that it does not need.
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
	if err == nil && !m.knows && (s.claims != nil && !s.parts && !placing.MatchString(events) || s.claims == nil && strings.Contains(events, "grant")) {
		m.Fatalf("%s: events: %s", s.what, events)
	}
	m.settled(events)
	m.asserted(w, s, 0)
}

// placing are the events of a statement that changes places.
var placing = regexp.MustCompile(`^(begin commit )?(grant )+begin commit( release)+$`)

// snapshot and restore keep what a rollback brings back.
func (m *machine) snapshot() machine {
	before := *m
	before.keys = maps.Clone(m.keys)
	return before
}

func (m *machine) restore(before machine) {
	m.forest, m.keys = before.forest, before.keys
}
