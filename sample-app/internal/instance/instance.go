// Package instance assembles one instance of the backend: database, lock store, plugin, service and
// HTTP interface.
package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/sample-app/internal/changes"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/lockstore"
	"github.com/pathlock-go/pathlock/sample-app/internal/lockview"
	"github.com/pathlock-go/pathlock/sample-app/internal/metrics"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/naive"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/schema"
	"github.com/pathlock-go/pathlock/sample-app/internal/tracing"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Config says what an instance works with.
type Config struct {
	// DB and Locks are URLs: see [database.Open] and [lockstore.Open].
	DB    string
	Locks string
	// LocksPassword is the password of the lock store if its URL has none.
	LocksPassword string
	// Namespace keeps the locks of several databases apart on one lock store. "" means
	// [DefaultNamespace]. All instances on a database need the same one.
	Namespace string
	// Wait is how long a request waits for locks, and Lease how long a lock lives that nobody
	// renews. 0 means pathlock's default.
	Wait, Lease time.Duration
	// Connections is the largest number of connections to the database server.
	Connections int
	// Assert leaves the assertion in the database on. Without it and without locks, package naive
	// writes the trees, without any protection.
	Assert bool
	// Think is how long at most an unprotected handler waits between reading and writing.
	Think time.Duration
	// Rule is how much of a plan a change of its tree locks.
	Rule httpapi.Rule
	// AdminRelease lets whoever reaches the admin page release what others hold.
	AdminRelease bool
	// Hosts are the names that the server goes by: see [admin.Config].
	Hosts []string
	// BodyTimeout is how long a client may take to send a body; 0 means the middleware's default.
	BodyTimeout time.Duration
	// Log is [slog.Default] if it is nil.
	Log *slog.Logger
}

// DefaultNamespace is the lock namespace of the plans' trees: the tree of plan 7 is testplan/7.
const DefaultNamespace = "testplan"

// Instance is one instance of the backend.
type Instance struct {
	Service *plans.Service
	// Handler is the HTTP interface.
	Handler http.Handler
	// Feed tells of changes. Its Stop has to be called when the server stops accepting requests.
	Feed *changes.Feed
	// Admin is the admin page. Its Close has to be called then, too.
	Admin *admin.Page
	DB    *database.DB
	Store *lockstore.Store
	// Unprotected says that neither locks nor the assertion protect trees.
	Unprotected bool

	locker  *pathlock.Locker
	tracing *tracing.Tracing
	purge   *purge
	history *contention.Recorder
	// draining says that the instance is about to end.
	draining atomic.Bool
}

// Drain has /readyz say that the instance is about to end. Everything else works as before.
func (i *Instance) Drain() { i.draining.Store(true) }

// Open opens the database and the lock store, brings the schema up to date, and assembles the rest.
func Open(ctx context.Context, config Config) (*Instance, error) {
	store, err := lockstore.Open(ctx, config.Locks, config.LocksPassword)
	if err != nil {
		return nil, err
	}
	i, err := OpenWith(ctx, config, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return i, nil
}

// OpenWith is [Open] on a lock store that is already open. The instance closes it.
func OpenWith(ctx context.Context, config Config, store *lockstore.Store) (*Instance, error) {
	if config.Log == nil {
		config.Log = slog.Default()
	}
	// Package naive works at the server's own isolation level, as code written by hand does.
	protected := !store.Off || config.Assert
	db, err := database.Open(config.DB, database.Options{Connections: config.Connections, ReadCommitted: protected})
	if err != nil {
		return nil, err
	}
	i := &Instance{DB: db, Store: store}
	if err := i.assemble(ctx, config); err != nil {
		if i.Feed != nil {
			i.Feed.Close()
		}
		if i.purge != nil {
			i.purge.stop()
		}
		i.closeAdmin()
		return nil, errors.Join(err, i.tracing.Close(context.WithoutCancel(ctx)), db.Close())
	}
	return i, nil
}

// assemble makes the rest of an instance that has a database and a lock store.
func (i *Instance) assemble(ctx context.Context, config Config) error {
	if err := schema.Migrate(ctx, i.DB); err != nil {
		return err
	}
	if config.Namespace == "" {
		config.Namespace = DefaultNamespace
	}
	m := metrics.New()
	m.WatchPool(i.DB.Pool(), string(i.DB.Dialect))
	var err error
	if i.tracing, err = tracing.Open(ctx); err != nil {
		return err
	}
	i.history = contention.New(i.Store.Store, contention.Config{Log: config.Log})
	// The locker gets the inner store, which may implement more than [pathlock.Store].
	i.locker = pathlock.New(i.Store.Store, append(i.tracing.Options(),
		pathlock.WithWait(cmp.Or(config.Wait, pathlock.DefaultWait)),
		pathlock.WithLease(cmp.Or(config.Lease, pathlock.DefaultLease)),
		pathlock.WithObserver(m.Locks()),
		pathlock.WithObserver(i.history),
		pathlock.WithLogger(config.Log),
	)...)
	i.tracing.LinkBlockers(i.locker)
	plugin, err := guard(i.DB.Write, i.locker, config)
	if err == nil && i.DB.Read != i.DB.Write {
		// The resolvers read beside the writers.
		plugin, err = guard(i.DB.Read, i.locker, config)
	}
	if err != nil {
		return err
	}
	if i.Admin, err = adminPage(i.locker, i.history, config); err != nil {
		return err
	}
	suites := plugin.Resolver(&model.Suite{})
	i.Service = plans.New(i.DB, suites)
	locks := lockview.New(i.locker, i.Service, i.revision, config.Namespace)
	i.Feed = changes.New(i.DB, locks.JSON, config.Log)
	i.Service.Announce(i.Feed)
	keys, err := idempotency.New(i.DB.Write, idempotency.Config{
		Scope: idempotency.OneScope, // whoever reaches the server may see everything
		Table: schema.IdempotencyKeys, BodyTimeout: config.BodyTimeout,
		Fail: func(c *gin.Context, p *middleware.Problem) {
			i.locker.Answered(c.Request.Context(), pathlock.Failure(p.Slug()))
			middleware.WriteProblem(c, p)
		},
		Log: config.Log,
	})
	if err != nil {
		return err
	}
	i.purge = newPurge(keys, config.Log)
	api := httpapi.Config{
		Keys:          keys,
		Hosts:         config.Hosts,
		Service:       i.Service,
		Suites:        i.Service,
		SuiteResolver: suites,
		CaseResolver:  plugin.Resolver(&model.Case{}),
		Locker:        i.locker,
		Locks:         locks,
		Feed:          i.Feed,
		Admin:         i.Admin,
		DB:            i.DB,
		Asserted:      config.Assert,
		Rule:          config.Rule,
		Namespace:     config.Namespace,
		Metrics:       m.Handler(),
		Observe:       i.tracing.Request(m.Observe),
		Log:           config.Log,
		Draining:      i.draining.Load,
		BodyTimeout:   config.BodyTimeout,
	}
	if i.Unprotected = i.Store.Off && !config.Assert; i.Unprotected {
		api.Suites = changes.Announced(naive.New(i.DB, config.Think, plugin.FailureOf), i.Feed)
	} else if err := verify(ctx, i.DB, config.Log); err != nil {
		return err
	}
	i.greet(ctx, config.Log)
	i.Handler, err = httpapi.New(api)
	return err
}

// revision counts the changes of a plan.
func (i *Instance) revision(ctx context.Context, plan int64) (int64, error) {
	return i.Feed.Revision(ctx, plan)
}

// greetTimeout is how long the lock store may take to answer.
const greetTimeout = 3 * time.Second

// greet logs a warning if the lock store does not answer. An instance starts without it all the
// same: it serves reads, and refuses writes until the store is back.
func (i *Instance) greet(ctx context.Context, log *slog.Logger) {
	limited, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	if err := i.locker.Ping(limited); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "the lock store "+anystore.Trouble(err)+"; nothing is written until it serves",
			"locks", i.Store.Where, "error", err)
	}
}

// guard registers the plugin for the tables of the tree.
func guard(db *gorm.DB, locker *pathlock.Locker, config Config) (*gormplugin.Plugin, error) {
	options := []gormplugin.Option{
		gormplugin.Model(&model.Suite{}, gormplugin.Namespace(config.Namespace), gormplugin.MaxDepth(model.MaxDepth)),
		gormplugin.Leaf(&model.Case{}, &model.Suite{}),
	}
	if !config.Assert {
		options = append(options, gormplugin.WithoutAssertion())
	}
	plugin := gormplugin.New(locker, options...)
	if err := db.Use(plugin); err != nil {
		return nil, fmt.Errorf("register the plugin: %w", err)
	}
	return plugin, nil
}

// verify checks that the database has what the plugin's promises rest on. Somebody may have changed
// the schema by hand, or the settings of the server.
func verify(ctx context.Context, db *database.DB, log *slog.Logger) error {
	err := gormplugin.Verify(db.Write.WithContext(ctx))
	lacks, ok := errors.AsType[*gormplugin.SchemaError](err)
	if err == nil || !ok || errors.Is(err, gormplugin.ErrUnsafeSchema) {
		return err
	}
	for _, finding := range lacks.Findings {
		level := slog.LevelWarn
		if finding.Severity == treeschema.Advice {
			level = slog.LevelDebug
		}
		log.Log(ctx, level, "the database could serve better", "finding", finding.String())
	}
	return nil
}

// ReleaseTimeout is how long [Instance.Close] may take, whatever hangs: the lock store, or the
// collector of traces. A release gets its first try in it; the locks that are left end with their
// leases.
const ReleaseTimeout = 10 * time.Second

// Close waits until all locks are released, then closes the database and the store. All requests
// must have ended.
func (i *Instance) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), ReleaseTimeout)
	defer cancel()
	// What looks at locks and plans for others is of no use to the releases, and may hang like
	// them.
	var looking sync.WaitGroup
	looking.Go(i.Feed.Close)
	looking.Go(i.purge.stop)
	looking.Go(i.closeAdmin)
	err := i.locker.Shutdown(ctx)
	looking.Wait()
	return errors.Join(err, i.tracing.Close(ctx), i.DB.Close(), i.Store.CloseWithin(ctx))
}
