package doctor

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// locks examines a lock store.
func (e *exam) locks(ctx context.Context, store *anystore.Store) {
	about := store.String()
	switch scheme := store.Scheme(); {
	case scheme == "quorum":
		e.quorum(ctx, store)
	case scheme == "memory", scheme == "off":
		e.found(Warning, about, "store", "no other program sees the locks of this store", "programs that share a tree are not kept apart", "give the programs a lock store that they share")
	case MissingFile(store):
		e.found(Warning, about, "tables", "there is no such file yet", "no program has used this lock store", "check the path, or start a program")
	case e.store(ctx, about, store):
		e.probe(ctx, about, store)
	}
}

// dialects are those of the lock stores in databases, by the schemes of their URLs.
var dialects = map[string]*dialect.Dialect{
	"mysql": dialect.MySQL, "postgres": dialect.PostgreSQL, "postgresql": dialect.PostgreSQL, "sqlite": dialect.SQLite,
}

// store examines one lock store that is no quorum. It reports whether locks can be tried out.
func (e *exam) store(ctx context.Context, about string, opened *anystore.Store) (serves bool) {
	sql, isSQL := opened.Store.(*sqlstore.Store)
	ping := opened.Ping
	if isSQL {
		ping = sql.DB().PingContext // the tables are looked at below
	}
	err := Within(ctx, e.Patience, ping)
	serves = err == nil
	switch {
	case serves:
	case !isSQL && onlyRefuses(err):
		e.found(Problem, about, "service", err.Error(), "the lock store "+anystore.Trouble(err)+": nothing is granted", remedy(about, err))
	default:
		e.unanswered(about, err)
		if !strings.Contains(opened.Scheme(), "+cluster") { // of which it may be one shard alone
			return false
		}
	}
	switch store := opened.Store.(type) {
	case interface{ Client() redis.UniversalClient }:
		return e.redis(ctx, about, store.Client()) && serves
	case *sqlstore.Store:
		return e.sqlLocks(ctx, about, dialects[opened.Scheme()], store)
	case interface{ Client() *clientv3.Client }:
		e.etcd(ctx, about, store.Client())
	}
	return serves
}

// onlyRefuses reports whether a server grants nothing, but can be examined.
func onlyRefuses(err error) bool {
	trouble := anystore.Trouble(err)
	return slices.ContainsFunc([]string{"takes no writes", "does not let the user do", "is a cluster", "refuses the request"}, func(part string) bool { return strings.Contains(trouble, part) })
}

// quorum examines the members of a quorum. A problem of a single store is only a warning if a
// minority of the members have it.
func (e *exam) quorum(ctx context.Context, store *anystore.Store) {
	const about, change = "the quorum", "repair the members: see their findings"
	e.members = len(store.Members())
	var failing []int
	for i, member := range store.Members() {
		begin := len(e.Findings)
		e.locks(ctx, member)
		if slices.ContainsFunc(e.Findings[begin:], func(f Finding) bool { return f.Level == Problem }) {
			failing = append(failing, i+1)
		}
	}
	is := fmt.Sprintf("%d of %d with problems: %v", len(failing), e.members, failing)
	switch spare := (e.members-1)/2 - len(failing); {
	case len(failing) == 0:
	case spare < 0:
		e.found(Problem, about, "members", is, "no majority is sound: nothing is granted, or locks are lost", change)
	default:
		for i := range e.Findings {
			f := &e.Findings[i]
			f.Level, f.Means = min(f.Level, Warning), strings.ReplaceAll(f.Means, "nothing is granted", "this member grants nothing")
		}
		e.found(Warning, about, "members", is, "locks are granted, and "+shown.Count(spare, "more member may fail", "more members may fail"), change)
	}
	// A trial would make the file of a member that is not there.
	if !slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Check == "tables" && f.Level >= Warning }) {
		e.probe(ctx, about, store)
	}
}

// Close closes a lock store. Nothing needs to be released first: what a trial has left behind ends
// with its lease.
func Close(ctx context.Context, store *anystore.Store) {
	within := 10 * time.Second
	if ctx.Err() != nil { // the command was interrupted
		within = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	_ = store.Close(ctx)
}

// MissingFile reports whether a lock store that was opened is in a SQLite file that does not exist:
// its first use would create it.
func MissingFile(store *anystore.Store) bool {
	file, ok := strings.CutPrefix(store.String(), "sqlite://")
	if !ok {
		return false
	}
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// probe tries locks, and adds a finding about the outcome.
func (e *exam) probe(ctx context.Context, about string, store *anystore.Store) {
	took, err := trial(ctx, store.Store)
	switch {
	case err == nil:
		e.fine(about, "trial", fmt.Sprintf("a lock was taken, waited for, handed over in %v, and released", took.Round(10*time.Microsecond)))
	case errors.Is(err, pathlock.ErrUnavailable):
		e.found(Problem, about, "trial", err.Error(), "the lock store "+anystore.Trouble(err), remedy(about, err))
	default:
		e.found(Problem, about, "trial", err.Error(), "programs fail in the same way", "")
	}
}

// remedies say what to change if a lock store refuses to serve and no other finding says it, by a
// part of what [anystore.Trouble] says.
var remedies = map[string]string{
	"is out of memory":     "raise maxmemory, or remove what else fills the server",
	"cannot save its data": "see the server's log: its disk may be full, or its folder read-only",
	"is out of disk space": "make room on the server's disk",
	"is out of space":      "compact and defragment etcd, or raise its --quota-backend-bytes, then run etcdctl alarm disarm",
	"has exceeded a quota": "raise the quota of the node in ZooKeeper: setquota",
}

// remedy says what to change if a lock store refuses to serve; shown is its URL as messages show
// it.
func remedy(shown string, err error) string {
	if errors.Is(err, rpctypes.ErrPermissionDenied) {
		return "as root of etcd, grant a role of the user readwrite on the prefix of " + shown + ": " + etcdstore.DefaultPrefix + " if it names none"
	}
	for part, change := range remedies {
		if strings.Contains(anystore.Trouble(err), part) {
			return change
		}
	}
	return "see the other findings"
}

// trial does what programs do with a lock store, in a tree of its own: it takes a lock, waits for
// it with another owner, hands it over, and releases it, so that every right is really used. It
// returns how long the hand-over took. If the program dies, what is held ends within ten seconds.
func trial(ctx context.Context, store pathlock.Store) (took time.Duration, err error) {
	// A store remembers a tree for days, so there are a few, since a cluster has each on one of its
	// shards. Other doctors may use the same one; the node is this one's.
	id := rand.Text()
	tree, failed := pathlock.NewTree("pathlock-doctor", fmt.Sprintf("trial-%d", id[0]%16))
	node, err := pathlock.ParsePath("/" + id)
	if err = cmp.Or(failed, err); err != nil {
		return 0, err
	}
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(node)}, Lease: 10 * time.Second, Wait: 3 * time.Second, Note: "pathlock doctor"}
	quiet := pathlock.WithLogger(slog.New(slog.DiscardHandler))
	first, err := pathlock.New(store, quiet).Acquire(ctx, request)
	if err != nil {
		return 0, fmt.Errorf("taking a lock: %w", err)
	}
	release := sync.OnceValue(func() error { return first.Release(context.WithoutCancel(ctx)) })
	var began time.Time
	second, err := pathlock.New(store, quiet, pathlock.WithObserver(onWait{do: func() {
		began = time.Now()
		_ = release()
	}})).Acquire(ctx, request)
	took = time.Since(began)
	switch {
	case err != nil:
		return 0, errors.Join(fmt.Errorf("waiting for a lock: %w", err), release())
	case began.IsZero():
		err = errors.New("waiting for a lock: it was granted while another owner held it")
	}
	if ended := errors.Join(release(), second.Release(ctx)); ended != nil {
		err = errors.Join(err, fmt.Errorf("releasing a lock: %w", ended))
	}
	return took, err
}

// onWait does something when a request waits.
type onWait struct {
	pathlock.NopObserver
	do func()
}

// Waiting implements [pathlock.Observer].
func (o onWait) Waiting(context.Context, pathlock.Event) { o.do() }
