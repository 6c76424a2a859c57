package gormplugintest

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Database is where the tests run: a database that is empty at first, and that
// nobody else uses.
type Database struct {
	// Connector connects to it.
	Connector driver.Connector
	// Dialector is GORM's for a pool of such connections.
	Dialector func(pool *sql.DB) gorm.Dialector
	// TableOptions is appended to CREATE TABLE: a binary collation, where that is not the default.
	TableOptions string
	// SoleWriter is set where writers wait for each other, so that no statement is ever given up.
	SoleWriter bool
	// DirtyReads is set where sessions read what is not committed: READ UNCOMMITTED.
	DirtyReads bool
	// Again is set where another database, of which this one differs by its driver, its settings or
	// its product, passes the whole suite: what differs shows in fewer runs and fewer writes.
	Again bool
	// GivenUp is an error by which the database says that it has given up a transaction, or a
	// statement, in favour of another one, as the driver returns it. Without one, further tries are
	// not tested.
	GivenUp error
}

// topic is a part of the suite.
type topic struct {
	name  string
	check func(t *testing.T, d Database)
}

// runAll checks topics.
func runAll(t *testing.T, d Database, topics []topic) {
	t.Helper()
	for _, p := range topics {
		t.Run(p.name, func(t *testing.T) { p.check(t, d) })
	}
}

// runOnce checks topics in which databases cannot differ, on the one that answers at once.
func runOnce(t *testing.T, d Database, topics []topic) {
	t.Helper()
	if d.SoleWriter && !d.Again {
		runAll(t, d, topics)
	}
}

// runBeside checks topics where others can write while a transaction is open.
func runBeside(t *testing.T, d Database, topics []topic) {
	t.Helper()
	if !d.SoleWriter {
		runAll(t, d, topics)
	}
}

// each checks promises, each in a world of its own.
func each(checks []check) func(t *testing.T, d Database) {
	return func(t *testing.T, d Database) {
		for _, c := range checks {
			t.Run(c.name, func(t *testing.T) { c.run(newWorld(t, d, settings{})) })
		}
	}
}

// RunStatements checks the outcome of every kind of statement, one after the other.
func RunStatements(t *testing.T, d Database) {
	t.Helper()
	migrate(t, d)
	for _, s := range specifications() {
		s.run(t, d)
	}
	runAll(t, d, []topic{
		{"machine", checkMachine},
		{"portions", checkPortions},
		{"id paths", each(idPathChecks())},
		{"no names", checkUnnamed},
		{"copy without names", checkCopyUnnamed},
		{"raw", each(rawChecks())},
		{"raw ends", each(rawEndChecks())},
		{"queries", each(queryChecks())},
		{"copy", each(copyChecks())},
		{"exchange", checkExchange},
		{"costs", checkCosts},
		{"constraints", checkConstraints},
		{"missed rows", checkMissedRows},
		{"saves", checkSaves},
		{"duplicates", checkTaken},
		{"depths", checkDepths},
		{"loose keys", checkLooseKeys},
		{"vast keys", checkVastKeys},
		{"text marks", checkTextMarks},
		{"targets", checkTargets},
		{"outdated look", checkOutdatedLook},
	})
	runBeside(t, d, []topic{{"snapshots", each(snapshotChecks())}})
	runOnce(t, d, []topic{
		{"callbacks", checkCallbacks},
		{"handed", each(handedChecks())},
		{"outdated parents", checkOutdatedParents},
		{"deletion time", checkDeletionTime},
		{"Replace", checkReplace},
		{"without the lock store", checkWithoutStore},
	})
}

// RunMachine runs the state machine only, for the further drivers of a database that passes
// [RunStatements].
func RunMachine(t *testing.T, d Database) {
	t.Helper()
	migrate(t, d)
	runAll(t, d, []topic{{"machine", checkMachine}})
}

// RunTransactions checks behaviour that depends on how transactions begin, fail and end, and on
// what the driver reports.
func RunTransactions(t *testing.T, d Database) {
	t.Helper()
	migrate(t, d)
	runAll(t, d, []topic{
		{"faults", checkFaults},
		{"tries", checkTries},
		{"afterwards", each(afterwardsChecks())},
		{"before the commit", each(beforeCommitChecks())},
		{"savepoints", checkSavepoints},
		{"goroutines in one transaction", checkSharedTransaction},
		{"errors that end it", checkEnded},
	})
	runBeside(t, d, []topic{{"sessions that only read", checkReadOnly}})
	runOnce(t, d, []topic{{"nothing written", checkRefused}, {"replaced", checkReplaced}, {"handlers", checkHandlers}, {"steps", checkSteps}, {"operations", checkOperations}})
}

// RunRaces has many write at once.
func RunRaces(t *testing.T, d Database) {
	t.Helper()
	migrate(t, d)
	runAll(t, d, []topic{
		{"shared", checkShared},
		{"storm", func(t *testing.T, d Database) { checkStorms(t, d) }},
		{"anomalies", checkAnomalies},
	})
	runBeside(t, d, []topic{{"copy beside a twin", checkCopyTwin}})
}

// check is one promise and the test that it is kept.
type check struct {
	name string
	run  func(w *world)
}

// settings is how a world differs from the plainest one.
type settings struct {
	config gorm.Config
	// store is the lock store, a memstore unless set.
	store pathlock.Store
	// wait bounds each wait for locks, in a transaction too, if it is set.
	wait    time.Duration
	options []gormplugin.Option
	// observer sees the locker's work, beside the trace.
	observer pathlock.Observer
	// connections bounds the pool.
	connections int
	// root is the root row of a plan that somebody else has made.
	root *Suite
}

// world is one test's view: a plan of its own in the database.
type world struct {
	*testing.T
	db     *gorm.DB
	plugin *gormplugin.Plugin
	locker *pathlock.Locker
	trace  *trace
	root   *Suite
	// ids are the planted rows' of the form at hand, by path.
	ids map[string]int64
}

// open connects to the database without the plugin.
func open(t *testing.T, d Database, s settings, tr *trace) *gorm.DB {
	t.Helper()
	pool := sql.OpenDB(tr.connector(d.Connector))
	pool.SetMaxOpenConns(max(s.connections, 0))
	pool.SetMaxIdleConns(64) // the default of two has storms connect for each transaction
	t.Cleanup(func() {
		if n := pool.Stats().InUse; n != 0 {
			t.Errorf("%d connections are still in use", n)
		}
		testerr.None(t, pool.Close())
	})
	s.config.Logger = logger.Discard
	db, err := gorm.Open(d.Dialector(pool), &s.config)
	testerr.Must(t, err)
	return db
}

// migrate makes the tables.
func migrate(t *testing.T, d Database) {
	t.Helper()
	db := open(t, d, settings{}, new(trace))
	if d.TableOptions != "" {
		db = db.Set("gorm:table_options", d.TableOptions).Session(&gorm.Session{})
	}
	testerr.Must(t, db.AutoMigrate(append(Models(), &Other{}, &Label{})...))
	// GORM makes no unique index over rows at the top.
	testerr.Must(t, db.Use(NewPlugin(pathlock.New(memstore.New()))))
	if err := gormplugin.AutoMigrate(db); err != nil && !errors.Is(err, gormplugin.ErrUnsafeSchema) {
		t.Fatal(err)
	}
	// Whatever the collation, paths of numbers are a range.
	if db.Name() == "mysql" {
		testerr.Must(t, db.Exec("ALTER TABLE depts MODIFY dept_path VARCHAR(200) COLLATE utf8mb4_unicode_ci").Error)
	}
}

// newWorld opens the database anew and makes a plan with a root row, unless s brings one.
func newWorld(t *testing.T, d Database, s settings) *world {
	t.Helper()
	var opts []pathlock.Option
	if s.wait > 0 {
		opts = append(opts, pathlock.WithWait(s.wait))
		s.options = append(s.options, gormplugin.TransactionWait(s.wait))
	}
	if s.observer != nil {
		opts = append(opts, pathlock.WithObserver(s.observer))
	}
	w := openWorld(t, d, s, opts, func(locker *pathlock.Locker) *gormplugin.Plugin { return NewPlugin(locker, s.options...) })
	if w.root = s.root; w.root == nil {
		w.root = w.newPlan()
	}
	t.Cleanup(func() {
		w.sound()
		w.nothingHeld()
	})
	w.trace.reset()
	return w
}

// openWorld opens the database with a plugin, and makes no plan.
func openWorld(t *testing.T, d Database, s settings, opts []pathlock.Option, plugin func(*pathlock.Locker) *gormplugin.Plugin) *world {
	t.Helper()
	if s.store == nil {
		s.store = memstore.New()
	}
	w := &world{T: t, trace: new(trace)}
	w.locker = pathlock.New(w.trace.store(s.store), append(opts, pathlock.WithLogger(slog.New(slog.DiscardHandler)))...)
	w.db = open(t, d, s, w.trace)
	w.plugin = plugin(w.locker)
	w.must(w.db.Use(w.plugin))
	return w
}

// machineWorld is a world whose plugin has options of its own, and no plan.
func machineWorld(t *testing.T, d Database, s settings, options []gormplugin.Option) *world {
	t.Helper()
	return openWorld(t, d, s, nil, func(locker *pathlock.Locker) *gormplugin.Plugin { return gormplugin.New(locker, options...) })
}
