// Package instance assembles one instance of the backend: database, lock store, plugin, service and
// HTTP interface.
package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/otelobserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/httpapi"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// Config says what an instance works with. Its tags are the flags of the command line, which say
// what most fields mean. Without a command line, Connections is as [plans.OpenDB] says,
// Namespace [DefaultNamespace], and Wait and Lease are pathlock's defaults.
type Config struct {
	DB            string        `help:"Database: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name. For a password, set the environment variable: other users can see the command line." default:"${db}" env:"PATHLOCK_DB" placeholder:"URL"`
	Connections   int           `name:"db-connections" help:"Largest number of connections to a database server. An SQLite file has a limit of its own." default:"20" env:"PATHLOCK_DB_CONNECTIONS" placeholder:"N"`
	Locks         string        `help:"Lock store: ${stores}." default:"memory://" env:"PATHLOCK_LOCKS" placeholder:"URL"`
	LocksPassword string        `help:"Password of the lock store, not encoded, if its URL has none. Set the environment variable: other users can see the command line." env:"PATHLOCK_LOCKS_PASSWORD" placeholder:"PASSWORD"`
	Assert        bool          `help:"Assert in every transaction that the paths on which the work relies are still right." default:"true" negatable:"" env:"PATHLOCK_ASSERT"`
	Namespace     string        `help:"Namespace of the locks. It keeps the locks of several databases apart on one lock store. All instances on a database need the same one." default:"testplan" env:"PATHLOCK_NAMESPACE"`
	Wait          time.Duration `help:"How long a request waits for locks that others hold. 0 means not at all." default:"2s" env:"PATHLOCK_WAIT"`
	Lease         time.Duration `help:"How long the locks of a dead instance stay." default:"30s" env:"PATHLOCK_LEASE"`

	// Rule is how much of a plan a change of its tree locks.
	Rule httpapi.Rule `kong:"-"`
	// AdminRelease lets whoever reaches the admin page release what others hold.
	AdminRelease bool `kong:"-"`
	// Hosts are the names that the server goes by: see [admin.Config].
	Hosts []string `kong:"-"`
	// BodyTimeout is how long a client may take to send a body; 0 means the middleware's default.
	BodyTimeout time.Duration `kong:"-"`
	// Log is [slog.Default] if it is nil.
	Log *slog.Logger `kong:"-"`
}

// DefaultNamespace is the lock namespace of the plans' trees: the tree of plan 7 is testplan/7.
const DefaultNamespace = "testplan"

// Instance is one instance of the backend.
type Instance struct {
	Service *plans.Service
	// Handler is the HTTP interface.
	Handler http.Handler
	DB      *plans.DB
	Store   *anystore.Store
	// Unprotected says that neither locks nor the assertion protect trees.
	Unprotected bool

	locker *pathlock.Locker
	// draining says that the instance is about to end.
	draining atomic.Bool
	// looking ends what looks at locks and plans for others, and last ends what everything else
	// needs, in order.
	looking []func()
	last    []func(context.Context) error
}

// Stores are the lock stores that the application knows.
var Stores = []anystore.Option{redisstore.Kind, sqlopen.Kind, zkstore.Kind, etcdstore.Kind}

// Open opens the database and the lock store, makes the tables, and assembles the rest.
func Open(ctx context.Context, config Config) (*Instance, error) {
	config.Log = cmp.Or(config.Log, slog.Default())
	config.Namespace = cmp.Or(config.Namespace, DefaultNamespace)
	i := &Instance{}
	if err := i.assemble(ctx, config); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

func (i *Instance) assemble(ctx context.Context, config Config) (err error) {
	if i.Store, err = anystore.Open(ctx, config.Locks, append(Stores, anystore.WithPassword(config.LocksPassword))...); err != nil {
		return err
	}
	i.last = append(i.last, i.Store.Close)
	if i.DB, err = plans.OpenDB(config.DB, config.Connections); err != nil {
		return err
	}
	i.last = append(i.last, func(context.Context) error { return i.DB.Close() })
	i.Unprotected = i.Store.Scheme() == "off" && !config.Assert

	m := newMetrics(i.DB.Pool(), string(i.DB.Dialect))
	history := contention.New(i.Store.Store, contention.Config{Log: config.Log})
	i.looking = append(i.looking, history.Close)
	options := []pathlock.Option{
		pathlock.WithWait(cmp.Or(config.Wait, pathlock.DefaultWait)),
		pathlock.WithLease(cmp.Or(config.Lease, pathlock.DefaultLease)),
		pathlock.WithLogger(config.Log), pathlock.WithObserver(m.locks), pathlock.WithObserver(history),
	}
	observe := []gin.HandlerFunc{m.observe}
	tracer, err := newTracer(ctx)
	if err != nil {
		return err
	}
	var spans otelobserver.Observer
	if tracer != nil {
		spans = otelobserver.New(otelobserver.TracerProvider(tracer))
		i.last = append(i.last, tracer.Shutdown)
		options, observe = append(options, pathlock.WithObserver(spans)), append([]gin.HandlerFunc{traced(tracer)}, observe...)
	}
	// The locker gets the inner store, which may implement more than [pathlock.Store].
	i.locker = pathlock.New(i.Store.Store, options...)
	if spans != nil {
		spans.LinkBlockers(i.locker)
	}

	plugin, err := guard(i.DB.Write, i.locker, config)
	if err == nil && i.DB.Read != i.DB.Write {
		// The resolvers read beside the writers.
		plugin, err = guard(i.DB.Read, i.locker, config)
	}
	if err != nil {
		return err
	}
	if err := plans.Migrate(ctx, i.DB, !i.Unprotected); err != nil {
		return fmt.Errorf("make the tables of %s: %w", i.DB.Where, err)
	}
	suites := plugin.Resolver(&plans.Suite{})
	i.Service = plans.New(i.DB, suites)
	keys, err := i.keys(ctx, config)
	if err != nil {
		return err
	}
	page, err := i.adminPage(history, config)
	if err != nil {
		return err
	}
	api := httpapi.Config{
		Keys:          keys,
		Hosts:         config.Hosts,
		Service:       i.Service,
		Suites:        i.Service,
		SuiteResolver: suites,
		CaseResolver:  plugin.Resolver(&plans.Case{}),
		Locker:        i.locker,
		Admin:         page,
		DB:            i.DB,
		Asserted:      config.Assert,
		Rule:          config.Rule,
		Namespace:     config.Namespace,
		Metrics:       promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true}), // with exemplars
		Observe:       observe,
		Log:           config.Log,
		Draining:      i.draining.Load,
		BodyTimeout:   config.BodyTimeout,
	}
	if i.Unprotected {
		api.Suites = plans.NewUnprotected(i.DB)
	}
	i.watchLockStore(ctx, config.Log)
	i.Handler, err = httpapi.New(api)
	return err
}

// guard registers the plugin for the tables of the tree.
func guard(db *gorm.DB, locker *pathlock.Locker, config Config) (*gormplugin.Plugin, error) {
	options := []gormplugin.Option{
		gormplugin.Model(&plans.Suite{}, gormplugin.Namespace(config.Namespace), gormplugin.MaxDepth(plans.MaxDepth)),
		gormplugin.Leaf(&plans.Case{}, &plans.Suite{}),
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

// adminPage shows the locks, and the last waits. The backend has no authentication:
// whoever reaches it may look, as at everything else. Whether they may release what others hold is
// a setting.
func (i *Instance) adminPage(history contention.Recorder, config Config) (http.Handler, error) {
	c := admin.Config{
		Authorize: func(*http.Request) error { return nil },
		Hosts:     config.Hosts,
		History:   history,
		Log:       config.Log,
	}
	if config.AdminRelease {
		c.AuthorizeRelease = func(r *http.Request) (string, error) {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			return "somebody at " + host, nil
		}
	}
	return admin.New(i.locker, c)
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
	// Code that looks at locks and plans for others is of no use to the releases, and may hang like
	// them.
	var looking sync.WaitGroup
	for _, end := range i.looking {
		looking.Go(end)
	}
	var errs []error
	if i.locker != nil {
		errs = append(errs, i.locker.Shutdown(ctx))
	}
	looking.Wait()
	for n := range i.last {
		errs = append(errs, i.last[len(i.last)-1-n](ctx))
	}
	return errors.Join(errs...)
}
