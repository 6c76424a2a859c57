package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/internal/carry"
	"gorm.io/gorm"
)

// pluginName is what [gorm.DB.Use] knows the plugin by.
const pluginName = "pathlock"

// DefaultTransactionWait is how long a write inside a transaction waits for
// path locks, unless [TransactionWait] says otherwise. It is short, since
// the rows that the transaction has locked wait with it.
const DefaultTransactionWait = time.Second

// Plugin guards the tables of one [gorm.DB]. Make it with [New] and hand it to [gorm.DB.Use] before
// sessions are made from the DB, which would know nothing of it, and before plugins that wrap
// connections or replace GORM's own writing callbacks.
type Plugin struct {
	locker          *pathlock.Locker
	carrier         any // the key under which a framework's context has the locks of its request
	specs           []modelSpec
	transactionWait time.Duration
	maxTries        int
	assert          bool
	tripwire        bool
	oneWriter       bool

	// What follows is set once, by Initialize.
	db      *gorm.DB
	dialect *dialect.Dialect
	tables  map[string]*table   // by name
	bases   map[string][]*table // by name without the schema
	models  map[reflect.Type]*table
	names   *rawsql.Names // the guarded tables', as the database tells them apart
	// spellings is the rule by which it does.
	spellings  rawsql.Case
	recognised recognised
}

// Option configures a [Plugin]; [Model] and [Leaf] are options too.
type Option func(*Plugin)

// TransactionWait bounds how long a write inside a transaction that the
// caller began waits for path locks; [pathlock.NoWait] is not at all. A write outside of one takes
// its locks before its transaction begins, and waits as long as the locker says.
func TransactionWait(d time.Duration) Option {
	return func(p *Plugin) { p.transactionWait = d }
}

// WithoutAssertion leaves out the check under row locks, so that nothing but the path locks keeps
// the tree right. It exists to show what the assertion prevents; never use it on data that matters.
func WithoutAssertion() Option { return func(p *Plugin) { p.assert = false } }

// New returns a plugin that takes its path locks with locker.
func New(locker *pathlock.Locker, opts ...Option) *Plugin {
	p := &Plugin{locker: locker, carrier: carry.Key(locker), transactionWait: DefaultTransactionWait, maxTries: DefaultMaxTries, assert: true, tripwire: true}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// Name implements [gorm.Plugin].
func (p *Plugin) Name() string { return pluginName }

// Initialize implements [gorm.Plugin]; [gorm.DB.Use] calls it. It returns an error when the
// database is of an unknown kind or only like a supported one, when a registered model lacks a
// column, or when the DB's connection pool is none that can be wrapped.
func (p *Plugin) Initialize(db *gorm.DB) error {
	if p.db != nil {
		return p.initializeAgain(db)
	}
	if err := p.locker.Check(); err != nil {
		return err
	}
	d, err := dialect.Of(db.Name())
	if err != nil {
		return err
	}
	p.dialect = d
	if err := p.inspectAll(db); err != nil {
		return err
	}
	if err := p.recogniseNow(db); err != nil {
		return err
	}
	if err := p.learnNames(db); err != nil {
		return err
	}
	if err := p.wrapPool(db); err != nil {
		return err
	}
	if err := p.register(db); err != nil {
		return fmt.Errorf("gormplugin: registering callbacks: %w", err)
	}
	p.db = db
	return nil
}

// initializeAgain is for a further DB of the same configuration, as dbresolver opens one for each
// source and replica. It is guarded as the first one is.
func (p *Plugin) initializeAgain(db *gorm.DB) error {
	if db.Plugins[pluginName] != gorm.Plugin(p) || db.Name() != p.dialect.Name {
		return errors.New("gormplugin: the plugin is in use by a DB already: make one for each")
	}
	if err := p.recogniseNow(db); err != nil {
		return err
	}
	if err := p.learnNames(db); err != nil {
		return err
	}
	if err := p.wrapPool(db); err != nil {
		return err
	}
	if err := p.register(db); err != nil {
		return fmt.Errorf("gormplugin: registering callbacks: %w", err)
	}
	return nil
}

// inspectAll finds the columns of all registered models.
func (p *Plugin) inspectAll(db *gorm.DB) error {
	if len(p.specs) == 0 {
		return errors.New("gormplugin: no model is registered")
	}
	p.tables, p.bases, p.models = make(map[string]*table), make(map[string][]*table), make(map[reflect.Type]*table)
	for _, spec := range p.specs {
		t, err := inspect(db, spec)
		if err != nil {
			return err
		}
		t.plugin, t.dialect = p, p.dialect
		if p.dialect.TextsNeedSize {
			t.limitTexts()
		}
		if p.tables[t.name] != nil {
			return fmt.Errorf("gormplugin: the table %q is registered twice", t.name)
		}
		p.tables[t.name], p.models[t.schema.ModelType] = t, t
		p.bases[baseName(t.name)] = append(p.bases[baseName(t.name)], t)
	}
	for _, spec := range p.specs {
		if spec.parent == nil {
			continue
		}
		leaf, err := p.tableFor(spec.model)
		if err != nil {
			return err
		}
		if leaf.above, err = p.tableFor(spec.parent); err != nil {
			return err
		}
		if leaf.above.path == nil {
			return fmt.Errorf("gormplugin: %s hangs below %s, which has no path column", leaf.schema.Name, leaf.above.schema.Name)
		}
	}
	for _, t := range p.tables {
		t.findZeroKeys()
	}
	return nil
}

// tableFor returns the guarded table of a model.
func (p *Plugin) tableFor(model any) (*table, error) {
	if t := p.models[modelType(model)]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("gormplugin: the model %T is not registered", model)
}

// modelType returns the type of a model that is given as a value or by pointers to one; nil for
// nil.
func modelType(model any) reflect.Type {
	typ := reflect.TypeOf(model)
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ
}

// pluginOf returns the plugin that db uses.
func pluginOf(db *gorm.DB) (*Plugin, error) {
	if p, ok := db.Plugins[pluginName].(*Plugin); ok {
		return p, nil
	}
	return nil, errors.New("gormplugin: the DB does not use the plugin")
}

// register puts the plugin's steps into GORM's chains of callbacks: one at each end, and one in the
// place of GORM's own that writes the SQL. All of these exist whether or not the default
// transaction was switched off when the DB was opened.
func (p *Plugin) register(db *gorm.DB) error {
	create, update, remove := db.Callback().Create(), db.Callback().Update(), db.Callback().Delete()
	creating, updating, removing := p.writers(db)
	return errors.Join(
		create.Before("*").Register("pathlock:begin_create", p.begin(creating, p.surveyCreate)),
		p.install(creating, create.Replace),
		create.After("*").Register("pathlock:end_create", p.end(create.Execute)),

		update.Before("*").Register("pathlock:begin_update", p.begin(updating, p.surveyUpdate)),
		p.install(updating, update.Replace),
		update.After("*").Register("pathlock:end_update", p.end(update.Execute)),

		remove.Before("*").Register("pathlock:begin_delete", p.begin(removing, p.surveyDelete)),
		p.install(removing, remove.Replace),
		remove.After("*").Register("pathlock:end_delete", p.end(remove.Execute)),

		db.Callback().Query().Before("*").Register("pathlock:watch_query", p.watch),
		db.Callback().Row().Before("*").Register("pathlock:watch_row", p.watchRow),
		db.Callback().Raw().Before("*").Register("pathlock:watch_raw", p.watch),
		db.Callback().Raw().Before("gorm:raw").Register("pathlock:bare_savepoint", p.bareSavepoint),
		db.Callback().Raw().After("gorm:raw").Register("pathlock:cached_again", p.cachedAgain),

		db.Callback().Query().After("*").Register("pathlock:end_query", p.endRead),
		db.Callback().Row().After("*").Register("pathlock:end_row", p.endRow),
		db.Callback().Raw().After("*").Register("pathlock:end_raw", p.endRead),
	)
}

// background is the context for work that has to be finished although ctx has ended.
func background(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
