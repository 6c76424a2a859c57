package gormplugin

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// pluginName is what [gorm.DB.Use] knows the plugin by.
const pluginName = "pathlock"

// defaultTransactionWait is short, since others wait for the rows that the transaction has locked.
const defaultTransactionWait = time.Second

// Plugin guards the tables of one [gorm.DB]. Make it with [New]. Hand it to [gorm.DB.Use] before
// you make sessions from the DB, which would not know it, and before plugins that wrap connections
// or replace GORM's own writing callbacks.
//
// When the connections of that DB have been closed, another may use the plugin, as in a program
// that opens its database anew: resolvers and middleware go on with the new one.
type Plugin struct {
	specs     []table.Spec
	oneWriter bool
	// settings are those of the engine of whatever DB.
	settings write.Engine
	// lookups are the resolvers by other columns than keys.
	lookups []*resolver
	// use is never nil. Requests read it at any time. Its DBs start one after the other.
	use      atomic.Pointer[inUse]
	starting sync.Mutex
	// served has the *dialect.Dialect of every DB so far: requests on earlier ones may still run.
	served sync.Map
}

// inUse is a plugin with what it knows of the one DB that uses it.
type inUse struct {
	*Plugin
	*write.Engine
	// db is set once, by Initialize, after everything else.
	db atomic.Pointer[gorm.DB]
}

// Option configures a [Plugin]; [Model] and [Leaf] are options too.
type Option func(*Plugin)

// TransactionWait bounds how long a write inside a transaction that the caller began waits for path
// locks; with [pathlock.NoWait] it does not wait. A write outside of one takes its locks before its
// transaction begins, and waits as long as the locker says. Defaults to a second.
func TransactionWait(d time.Duration) Option {
	return func(p *Plugin) { p.settings.TransactionWait = d }
}

// WithoutAssertion skips the check under row locks, so that only the path locks keep the tree
// right. It exists to show what the assertion prevents: never use it on data that matters.
func WithoutAssertion() Option { return func(p *Plugin) { p.settings.Asserts = false } }

// New returns a plugin that takes its path locks with locker. Without a [Model] it guards nothing,
// but still sees transactions end, for [AfterCommit] and package idempotency.
func New(locker *pathlock.Locker, opts ...Option) *Plugin {
	p := &Plugin{settings: write.Engine{Guard: &txn.Guard{Locker: locker}, Asserts: true, Tripwire: true, TransactionWait: defaultTransactionWait, MaxTries: DefaultMaxTries}}
	for _, opt := range opts {
		opt(p)
	}
	p.free()
	return p
}

// free makes the plugin ready for the next DB. What still runs on the previous one stays with that.
func (p *Plugin) free() *inUse {
	engine := p.settings
	engine.Guard, engine.Catalogue = &txn.Guard{Locker: engine.Locker}, new(table.Catalogue)
	u := &inUse{Plugin: p, Engine: &engine}
	p.use.Store(u)
	return u
}

// current returns the plugin with the DB that uses it, or with none, if that was closed.
func (p *Plugin) current() *inUse {
	u := p.use.Load()
	if u.db.Load() == nil || !u.IsClosed() {
		return u
	}
	return p.free()
}

// Name implements [gorm.Plugin].
func (p *Plugin) Name() string { return pluginName }

// Initialize implements [gorm.Plugin]; [gorm.DB.Use] calls it. It returns an error
//
//   - when the database is of an unknown kind, or only like a supported one,
//   - when a registered model lacks a column, or one that a resolver looks rows up by,
//   - when the DB uses gorm.io/sharding, which would send statements to other tables than the
//     plugin has asserted,
//   - when the DB's connection pool cannot be wrapped, or
//   - when another DB, which was not closed, uses the plugin.
//
// After an error, the plugin is as it was: another DB may use it.
func (p *Plugin) Initialize(db *gorm.DB) error {
	p.starting.Lock()
	defer p.starting.Unlock()
	return p.current().initialize(db)
}

// initialize does the work of Initialize.
func (p *inUse) initialize(db *gorm.DB) error {
	if p.db.Load() != nil {
		// dbresolver opens a further DB of the same configuration for each source and replica.
		if db.Plugins[pluginName] != gorm.Plugin(p.Plugin) || db.Name() != string(p.Dialect.Name) {
			return errors.New("gormplugin: the plugin is in use by a DB already: close that one first, or make a plugin for each")
		}
		return p.attach(db)
	}
	if err := errors.Join(p.Locker.Check(), txn.RefuseSharding(db)); err != nil {
		return err
	}
	d, err := dialect.Of(dialect.Name(db.Name()))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnsupportedDatabase, err)
	}
	p.Dialect, p.DB = d, db
	if err := p.InspectAll(db, d, p.specs); err != nil {
		return err
	}
	for _, r := range p.lookups {
		if _, err := r.lookup(p); err != nil {
			return err
		}
	}
	if err := p.attach(db); err != nil {
		return err
	}
	p.served.Store(d, nil)
	p.db.Store(db)
	return nil
}

// attach puts the plugin into a DB.
func (p *inUse) attach(db *gorm.DB) error {
	if err := p.RecogniseNow(db); err != nil {
		return err
	}
	if err := p.WrapPool(db); err != nil {
		return err
	}
	if err := p.Register(db); err != nil {
		return fmt.Errorf("gormplugin: registering callbacks: %w", err)
	}
	return nil
}

// errReplaced is the error of a transaction, or another session, whose DB has been closed.
var errReplaced = pathlock.FailureDatabase.New("gormplugin: the transaction or session belongs to a DB that was closed, which the plugin no longer serves")

// pluginOf returns the plugin that db uses.
func pluginOf(db *gorm.DB) (*inUse, error) {
	p, ok := db.Plugins[pluginName].(*Plugin)
	if !ok {
		return nil, errors.New("gormplugin: the DB does not use the plugin")
	}
	u := p.use.Load()
	switch {
	case u.IsReplacedOn(db):
		return nil, errReplaced
	case u.db.Load() == nil:
		return nil, errUnused
	}
	return u, txn.RefuseSharding(db)
}

// pluginOfSession is [pluginOf] that refuses a session which was made before the DB used the
// plugin, on which no guarded write would succeed.
func pluginOfSession(db *gorm.DB) (*inUse, error) {
	p, err := pluginOf(db)
	if _, bare := txn.Unwrapped(db.Statement.ConnPool).(*sql.DB); bare && err == nil {
		err = fmt.Errorf("%w: this session was made before db.Use, by Debug or WithContext for example: make it afterwards", ErrUnmanagedTransaction)
	}
	return p, err
}

// Pool wraps the connections of a further database, such as another source of dbresolver's, so that
// the plugin guards the transactions on them. Use it as the Conn of the source's dialector.
func (p *Plugin) Pool(db *sql.DB) gorm.ConnPool { return p.current().Guard.Pool(db) }
