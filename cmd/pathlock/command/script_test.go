package command_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// The transcripts in testdata/locks say what the commands that look at locks show, on several
// stores, and those in testdata/tables what is done to the tables of an SQLite file. Besides the
// program, they know
//
//	lock NAME TREE MODE PATH NOTE     somebody holds, and $NAME is what ls calls him
//	queue NAME TREE MODE PATH NOTE    somebody waits
//	granted NAME                      he who waited holds, or fails if he does not get it
//	lost NAME                         he learns that he has lost what he held
//	exits CODE COMMAND ARGUMENTS      a command that has this exit code
//	await NAME                        somebody waits for a mutex or an election
//	sql DATABASE FILE                 statements run on an SQLite file
//	query DATABASE SQL                the value that a query finds there
func TestLooks_transcripts(t *testing.T) {
	t.Parallel()
	t.Run("tables", func(t *testing.T) { transcripts(t, "testdata/tables", "sqlite://$WORK/app.db") })
	t.Run("SQLite", func(t *testing.T) { transcripts(t, "testdata/locks", "sqlite://$WORK/app.db") })
	t.Run("Redis", func(t *testing.T) {
		transcripts(t, "testdata/locks", "redis://"+testredis.Start(t, testredis.Redis).Addr+"/0")
	})
}

// transcripts runs those of a folder on the lock store of a URL.
func transcripts(t *testing.T, dir, url string) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			at := strings.ReplaceAll(url, "$WORK", env.WorkDir)
			store, err := anystore.Open(t.Context(), at, doctor.Stores...)
			if err != nil {
				return err
			}
			p := &people{t: t, store: store, by: map[string]*person{}}
			env.Defer(p.end)
			env.Values["people"] = p
			env.Setenv("PATHLOCK_LOCKS", at)
			env.Setenv("PATHLOCK_DB", "sqlite://"+env.WorkDir+"/app.db")
			env.Setenv("NS", fmt.Sprintf("transcript-%d-%d", os.Getpid(), time.Now().UnixNano()))
			return store.Ping(t.Context()) // which makes the tables
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"lock": cmdLock, "queue": cmdQueue, "granted": cmdGranted, "lost": cmdLost, "exits": cmdExits, "await": cmdAwait, "sql": cmdSQL, "query": cmdQuery,
		},
	})
}

// people hold locks and wait for them while a transcript runs.
type people struct {
	t     testing.TB
	store *anystore.Store
	by    map[string]*person
}

type person struct {
	locker *pathlock.Locker
	lock   *pathlock.Lock
	done   chan error
	cancel context.CancelFunc
}

func (p *people) end() {
	for _, one := range p.by {
		one.cancel()
		if one.done != nil {
			if err := <-one.done; err != nil {
				one.lock = nil // the transcript has judged it
			}
		}
		if one.lock != nil {
			_ = one.lock.Release(context.Background()) // a transcript may have taken it away
		}
	}
	_ = p.store.Close(context.Background())
}

// queued tells when a request waits.
type queued struct {
	pathlock.NopObserver
	yes chan struct{}
}

func (q *queued) Waiting(context.Context, pathlock.Event) { close(q.yes) }

// newPerson reads NAME TREE MODE PATH NOTE.
func newPerson(ts *testscript.TestScript, neg bool, args []string) (one *person, req pathlock.Request, q *queued) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: lock|queue NAME TREE MODE PATH NOTE")
	}
	p, ok := ts.Value("people").(*people)
	if !ok {
		ts.Fatalf("there are no people")
	}
	namespace, id, _ := strings.Cut(args[1], "/")
	tree, err := pathlock.NewTree(namespace, id)
	ts.Check(err)
	req = pathlock.Request{Tree: tree, Note: args[4], Lease: 6 * time.Second, Wait: time.Minute}
	if args[2] == "gate" {
		req.Gate = true
	} else {
		var mode pathlock.Mode
		ts.Check(mode.UnmarshalText([]byte(args[2])))
		path, err := pathlock.ParsePath(args[3])
		ts.Check(err)
		req.Claims = []pathlock.Claim{{Path: path, Mode: mode}}
	}
	q = &queued{yes: make(chan struct{})}
	one = &person{locker: pathlock.New(p.store, pathlock.WithInstance("host-1"), pathlock.WithObserver(q))}
	p.by[args[0]] = one
	return one, req, q
}

// origin is where the locks of transcripts come from.
var origin = pathlock.Origin{Operation: "rename", Route: "PATCH /suites/:id", RequestID: "r-1"}

func cmdLock(ts *testscript.TestScript, neg bool, args []string) {
	one, req, _ := newPerson(ts, neg, args)
	ctx, cancel := context.WithCancel(pathlock.WithOrigin(context.Background(), origin))
	one.cancel = cancel
	lock, err := one.locker.Acquire(ctx, req)
	ts.Check(err)
	one.lock = lock
	snapshot, err := one.locker.Snapshot(ctx, req.Tree)
	ts.Check(err)
	for _, h := range snapshot.Holders {
		if h.Fence == lock.Fence() {
			ts.Setenv(args[0], strings.TrimSuffix(h.Owner.Short(), "…"))
			ts.Setenv(args[0]+"_FENCE", fmt.Sprint(h.Fence))
			ts.Setenv(args[0]+"_WHOLE", string(h.Owner))
		}
	}
}

func cmdQueue(ts *testscript.TestScript, neg bool, args []string) {
	one, req, q := newPerson(ts, neg, args)
	ctx, cancel := context.WithCancel(pathlock.WithOrigin(context.Background(), origin))
	one.cancel = cancel
	one.done = make(chan error, 1)
	go func() {
		lock, err := one.locker.Acquire(ctx, req)
		one.lock = lock
		one.done <- err
	}()
	select {
	case <-q.yes:
	case err := <-one.done:
		ts.Fatalf("it does not wait: %v", err)
	}
	snapshot, err := one.locker.Snapshot(ctx, req.Tree)
	ts.Check(err)
	for _, w := range snapshot.Waiters {
		if w.Note == req.Note {
			ts.Setenv(args[0], strings.TrimSuffix(w.Owner.Short(), "…"))
		}
	}
}

// named returns a person.
func named(ts *testscript.TestScript, args []string) *person {
	p, ok := ts.Value("people").(*people)
	if !ok || len(args) != 1 || p.by[args[0]] == nil {
		ts.Fatalf("there is nobody called %v", args)
	}
	return p.by[args[0]]
}

func cmdGranted(ts *testscript.TestScript, _ bool, args []string) {
	one := named(ts, args)
	err := <-one.done
	one.done = nil
	ts.Check(err)
}

func cmdLost(ts *testscript.TestScript, _ bool, args []string) {
	one := named(ts, args)
	select {
	case <-one.lock.Context().Done():
	case <-time.After(time.Minute):
		ts.Fatalf("%s does not learn of it", args[0])
	}
	one.lock = nil
}
