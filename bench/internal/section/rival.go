package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3/driver"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/lockserver"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/requests"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// rivalRedis names the store that the others are compared with.
const rivalRedis = "Redis"

// rival is a kind of lock store with its servers, from which any number of stores can be opened, as
// by processes of their own.
type rival struct {
	name string
	// addrs are where the servers listen. There are none for stores without a line.
	addrs    []string
	protocol requests.Protocol
	// open opens a store whose servers are reached at other addresses, in the order of addrs.
	open func(ctx context.Context, addrs []string) (instance, error)
	// statements opens a store whose statements are counted; nil where requests are.
	statements func() (instance, func() int64, error)
	stop       func(ctx context.Context) error
}

// instance is an open store.
type instance struct {
	store pathlock.Store
	close func(ctx context.Context) error
}

// withoutContext makes a close function of one that asks for no context.
func withoutContext(f func() error) func(context.Context) error {
	return func(context.Context) error { return f() }
}

// rivals starts the servers of all stores but those that are not installed, which it names. The
// caller stops all.
func rivals(ctx context.Context, env *Env) (all []rival, missing []string, err error) {
	for _, start := range []func(context.Context, *Env) (rival, error){
		memoryRival, redisRival, postgresRival, mariadbRival, mysqlRival, sqliteRival, zooKeeperRival, etcdRival, quorumRival,
	} {
		r, err := start(ctx, env)
		if errors.Is(err, lockserver.ErrMissing) {
			missing = append(missing, err.Error())
			continue
		}
		if err != nil {
			return nil, nil, errors.Join(err, stopRivals(ctx, all))
		}
		all = append(all, r)
	}
	return all, missing, nil
}

func stopRivals(ctx context.Context, all []rival) error {
	var errs []error
	for _, r := range all {
		if r.stop != nil {
			errs = append(errs, r.stop(context.WithoutCancel(ctx)))
		}
	}
	return errors.Join(errs...)
}

// memoryRival is one store for all, since it is within the process.
func memoryRival(context.Context, *Env) (rival, error) {
	store := memstore.New()
	return rival{name: "memory", open: func(context.Context, []string) (instance, error) {
		return instance{store, func(context.Context) error { return nil }}, nil
	}}, nil
}

func redisRival(_ context.Context, env *Env) (rival, error) {
	at := env.server("stores")
	host := strings.TrimPrefix(env.URL, "redis://")
	addr, path, _ := strings.Cut(host[strings.LastIndexByte(host, '@')+1:], "/")
	login := host[:strings.LastIndexByte(host, '@')+1]
	return rival{
		name: rivalRedis, addrs: []string{addr}, protocol: requests.Redis,
		open: func(_ context.Context, addrs []string) (instance, error) {
			return openRedisStore("redis://"+login+addrs[0]+"/"+path, at.Prefix)
		},
		stop: func(ctx context.Context) error { return redisserver.Delete(ctx, env.Admin, at.Prefix) },
	}, nil
}

func openRedisStore(url, prefix string) (instance, error) {
	store, err := redisstore.Open(url, redisstore.WithPrefix(prefix))
	if err != nil {
		return instance{}, err
	}
	return instance{store, store.Close}, nil
}

func postgresRival(ctx context.Context, _ *Env) (rival, error) {
	server, err := lockserver.StartPostgres(ctx)
	if err != nil {
		return rival{}, err
	}
	open := func(ctx context.Context, addrs []string) (instance, error) { return openSQL(ctx, server.URL(addrs[0])) }
	return rival{
		name: "PostgreSQL", addrs: []string{server.Addr}, protocol: requests.Postgres, open: open,
		stop: withoutContext(server.Stop),
	}, nil
}

// openSQL opens a store with its tables.
func openSQL(ctx context.Context, url string) (instance, error) {
	store, err := sqlopen.Open(url)
	if err != nil {
		return instance{}, err
	}
	if err := store.Create(ctx); err != nil {
		return instance{}, errors.Join(err, store.Close())
	}
	return instance{store, withoutContext(store.Close)}, nil
}

func mariadbRival(ctx context.Context, env *Env) (rival, error) {
	return mysqlAt(ctx, "MariaDB", env.DSN)
}

// OracleVariable is the environment variable that has the DSN of an Oracle MySQL, as that of
// -mysql.
const OracleVariable = "PATHLOCK_BENCH_MYSQL_ORACLE"

func mysqlRival(ctx context.Context, _ *Env) (rival, error) {
	dsn := os.Getenv(OracleVariable)
	if dsn == "" {
		return rival{}, fmt.Errorf("MySQL is %w, or not named by %s", lockserver.ErrMissing, OracleVariable)
	}
	return mysqlAt(ctx, "MySQL", dsn)
}

// mysqlAt makes a database of its own on a server.
func mysqlAt(ctx context.Context, name, dsn string) (rival, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return rival{}, fmt.Errorf("the DSN of %s: %w", name, err)
	}
	server := config.Clone()
	server.DBName = ""
	config.DBName = "bench_stores_" + strings.ToLower(rand.Text()[:8])
	if err := ask(ctx, server, "CREATE DATABASE "+config.DBName); err != nil {
		return rival{}, err
	}
	return rival{
		name: name, addrs: []string{config.Addr}, protocol: requests.MySQL,
		open: func(ctx context.Context, addrs []string) (instance, error) {
			at := config.Clone()
			at.Net, at.Addr = "tcp", addrs[0]
			return openSQL(ctx, "mysql://"+at.FormatDSN())
		},
		stop: func(ctx context.Context) error { return ask(ctx, server, "DROP DATABASE "+config.DBName) },
	}, nil
}

// sqliteRival has a file in the folder for temporary files.
func sqliteRival(context.Context, *Env) (rival, error) {
	folder, err := os.MkdirTemp("", "pathlock-bench-sqlite-")
	if err != nil {
		return rival{}, err
	}
	file := filepath.Join(folder, "locks.db")
	return rival{
		name: "SQLite", open: func(ctx context.Context, _ []string) (instance, error) { return openSQL(ctx, "sqlite://"+file) },
		statements: func() (instance, func() int64, error) {
			plain, err := (&driver.SQLite{}).OpenConnector("file:" + file + "?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(0)")
			if err != nil {
				return instance{}, nil, err
			}
			counted := &requests.Connector{Connector: plain}
			store, err := sqlstore.New(pool(counted), sqlstore.SQLite, sqlstore.WithOwnPool())
			if err != nil {
				return instance{}, nil, err
			}
			return instance{store, withoutContext(store.Close)}, counted.Count, nil
		},
		stop: func(context.Context) error { return os.RemoveAll(folder) },
	}, nil
}

func zooKeeperRival(ctx context.Context, _ *Env) (rival, error) {
	server, err := lockserver.StartZooKeeper(ctx)
	if err != nil {
		return rival{}, err
	}
	return rival{
		name: "ZooKeeper", addrs: []string{server.Addr}, protocol: requests.ZooKeeper,
		open: func(_ context.Context, addrs []string) (instance, error) {
			store, err := zkstore.New(addrs)
			if err != nil {
				return instance{}, err
			}
			return instance{store, store.Close}, nil
		},
		stop: withoutContext(server.Stop),
	}, nil
}

func etcdRival(ctx context.Context, _ *Env) (rival, error) {
	server, err := lockserver.StartEtcd(ctx)
	if err != nil {
		return rival{}, err
	}
	return rival{
		name: "etcd", addrs: []string{server.Addr}, protocol: requests.GRPC,
		open: func(_ context.Context, addrs []string) (instance, error) {
			client, err := clientv3.New(clientv3.Config{Endpoints: addrs, Logger: zap.NewNop()})
			if err != nil {
				return instance{}, err
			}
			store := etcdstore.New(client)
			return instance{store, func(ctx context.Context) error { return errors.Join(store.Close(ctx), client.Close()) }}, nil
		},
		stop: withoutContext(server.Stop),
	}, nil
}

// quorumRival has three servers of its own.
func quorumRival(ctx context.Context, _ *Env) (rival, error) {
	r := rival{name: "quorum of three Redis", protocol: requests.Redis}
	var servers []*redisserver.Server
	r.stop = func(context.Context) error {
		var errs []error
		for _, s := range servers {
			errs = append(errs, s.Stop())
		}
		return errors.Join(errs...)
	}
	for range 3 {
		server, err := redisserver.Start(ctx)
		if err != nil {
			return rival{}, errors.Join(err, r.stop(ctx))
		}
		servers, r.addrs = append(servers, server), append(r.addrs, server.Addr)
	}
	r.open = func(ctx context.Context, addrs []string) (instance, error) {
		var members []pathlock.Store
		var closing []func(context.Context) error
		closeAll := func(ctx context.Context) error {
			var errs []error
			for _, f := range closing {
				errs = append(errs, f(ctx))
			}
			return errors.Join(errs...)
		}
		for _, addr := range addrs {
			member, err := openRedisStore("redis://"+addr, "bench")
			if err != nil {
				return instance{}, errors.Join(err, closeAll(ctx))
			}
			members, closing = append(members, member.store), append(closing, member.close)
		}
		store, err := quorum.New(members)
		if err != nil {
			return instance{}, errors.Join(err, closeAll(ctx))
		}
		return instance{store, func(ctx context.Context) error { return errors.Join(store.Close(ctx), closeAll(ctx)) }}, nil
	}
	return r, nil
}
