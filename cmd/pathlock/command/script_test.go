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
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// The transcripts in testdata/commands say how commands run while something is held, on each store,
// those in testdata/locks what the commands that look at locks show, on two of them, and those in
// testdata/tables what is done to the tables of an SQLite file. Besides the program, they know
//
//	lock NAME TREE MODE PATH NOTE     somebody holds, and $NAME is what ls calls him
//	queue NAME TREE MODE PATH NOTE    somebody waits
//	granted NAME                      he who waited holds, or fails if he does not get it
//	lost NAME                         he learns that he has lost what he held
//	exits CODE COMMAND ARGUMENTS      a command that has this exit code
//	await NAME                        somebody waits for a mutex or an election
//	sql DATABASE FILE                 statements run on an SQLite file
//	query DATABASE SQL                the value that a query finds there
func TestCommands_transcripts(t *testing.T) {
	t.Parallel()
	const file = "sqlite://$WORK/app.db"
	t.Run("tables", func(t *testing.T) { transcripts(t, "testdata/tables", file) })
	for name, url := range map[string]func(t *testing.T) string{
		"SQLite": func(*testing.T) string { return file },
		"Redis":  func(t *testing.T) string { return "redis://" + testredis.Start(t, testredis.Redis).Addr + "/0" },
		"MySQL": func(t *testing.T) string {
			return "mysql://" + testserver.MySQLServer{DSN: testserver.MySQL(t)}.Scratch(t)
		},
		"PostgreSQL": func(t *testing.T) string { return testserver.Postgres(t) },
		"ZooKeeper":  func(t *testing.T) string { return "zk://" + testzk.Start(t).Addr },
		"etcd":       func(t *testing.T) string { return "etcd://" + testetcd.Start(t).Addr },
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("commands", func(t *testing.T) { transcripts(t, "testdata/commands", url(t)) })
			if name == "SQLite" || name == "Redis" {
				t.Run("locks", func(t *testing.T) { transcripts(t, "testdata/locks", url(t)) })
			}
		})
	}
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
			p := &people{t: t, store: store, by: map[string]person{}}
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
	by    map[string]person
}

// person is somebody's request and, while it waits, its outcome.
type person struct {
	pathlock.Acquisition
	over   chan error
	cancel context.CancelFunc
}

func (p *people) end() {
	for _, one := range p.by {
		if one.cancel(); one.over != nil {
			<-one.over //nolint:errcheck // The transcript has judged it.
		}
		_ = p.store.Release(context.Background(), one.Tree, one.Owner, one.Grant) // it may have been taken away
	}
	_ = p.store.Close(context.Background())
}

// newPerson reads NAME TREE MODE PATH NOTE.
func newPerson(ts *testscript.TestScript, args []string) (p *people, one person, ctx context.Context) {
	p = ts.Value("people").(*people)
	namespace, id, _ := strings.Cut(args[1], "/")
	tree, err := pathlock.NewTree(namespace, id)
	ts.Check(err)
	one.Acquisition = testlock.Ask(tree)
	one.Note, one.Origin = args[4], pathlock.Origin{Operation: "rename", Route: "PATCH /suites/:id", Instance: "host-1", RequestID: "r-1"}
	if one.Gate = args[2] == "gate"; !one.Gate {
		var mode pathlock.Mode
		ts.Check(mode.UnmarshalText([]byte(args[2])))
		path, err := pathlock.New(p.store).Folded(pathlock.MustParsePath(args[3]))
		ts.Check(err)
		one.Claims = pathlock.Normalize(pathlock.Claim{Path: path, Mode: mode})
	}
	ts.Setenv(args[0], strings.TrimSuffix(one.Owner.Short(), "…"))
	ts.Setenv(args[0]+"_WHOLE", string(one.Owner))
	ctx, one.cancel = context.WithCancel(context.Background())
	return p, one, ctx
}

func cmdLock(ts *testscript.TestScript, _ bool, args []string) {
	p, one, ctx := newPerson(ts, args)
	grant, err := p.store.Acquire(ctx, one.Acquisition)
	ts.Check(err)
	ts.Setenv(args[0]+"_FENCE", fmt.Sprint(grant.Fence))
	p.by[args[0]] = one
}

func cmdQueue(ts *testscript.TestScript, _ bool, args []string) {
	p, one, ctx := newPerson(ts, args)
	waits := make(chan struct{})
	one.over, one.Wait, one.Waiting = make(chan error, 1), testlock.Long, func() { close(waits) }
	go func() {
		_, err := p.store.Acquire(ctx, one.Acquisition)
		one.over <- err
		close(one.over)
	}()
	select {
	case <-waits:
	case err := <-one.over:
		ts.Fatalf("it does not wait: %v", err)
	}
	p.by[args[0]] = one
}

// named returns the people, and one of them.
func named(ts *testscript.TestScript, args []string) (*people, person) {
	p := ts.Value("people").(*people)
	one, ok := p.by[args[0]]
	if !ok {
		ts.Fatalf("there is nobody called %v", args)
	}
	return p, one
}

func cmdGranted(ts *testscript.TestScript, _ bool, args []string) {
	_, one := named(ts, args)
	ts.Check(<-one.over)
}

func cmdLost(ts *testscript.TestScript, _ bool, args []string) {
	p, one := named(ts, args)
	lost, err := p.store.Renew(context.Background(), one.Tree, []pathlock.Lease{{Owner: one.Owner, For: testlock.Long}})
	if ts.Check(err); len(lost) != 1 {
		ts.Fatalf("%s does not learn of it", args[0])
	}
}
