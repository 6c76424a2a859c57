package adminpage

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/chromium"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// person holds a lock, or waits for one.
type person struct {
	lock *pathlock.Lock
	got  chan error
}

// The transcripts say what the page shows while locks come and go. They know
//
//	site [read-only|few-trees]           a server with the page
//	tree NAMESPACE ID                    the tree of what comes then, instead of testplan/plan-001
//	hold NAME PATH NOTE [ROUTE] [OWNER]  somebody holds, as the owner of another lock or of their own
//	queue NAME PATH NOTE [ROUTE]         somebody waits; the path may be gate
//	detach NAME, release NAME            what becomes of it
//	lost NAME, granted NAME              the holder has lost it, and the waiter has got it, or not
//	answers STATUS                       what the API answers instead, or 0
//	stop, start                          the server goes and comes
//	open, overview, beside               the page with the tree, without one, and in a second tab
//	openapi                              the page's own description of its API is valid
//	answer STATUS METHOD PATH [BODY] [HEADER: VALUE]
//	                                     what the API answers, as described; $KEY is the first entry's
//	tab VERB ARGUMENT…                   the verbs are the methods of chromium.Tab, and those of window
func TestPage_transcripts(t *testing.T) {
	commands := map[string]func(*site, *testscript.TestScript, bool, []string){
		"site": func(s *site, _ *testscript.TestScript, _ bool, args []string) { s.begin(strings.Join(args, "")) },
		"tree": func(s *site, ts *testscript.TestScript, _ bool, args []string) {
			tree, err := pathlock.NewTree(args[0], args[1])
			ts.Check(err)
			s.tree = tree
		},
		"hold": (*site).hold, "queue": (*site).queue, "lost": (*site).lost, "granted": (*site).granted,
		"openapi": (*site).openapi, "answer": (*site).answer,
		"detach": func(s *site, ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(testerr.Of(s.people[args[0]].lock.Detach(s.t.Context())))
		},
		"release": func(s *site, ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(s.people[args[0]].lock.Release(s.t.Context()))
		},
		"answers": func(s *site, ts *testscript.TestScript, _ bool, args []string) {
			status, err := strconv.ParseInt(args[0], 10, 32)
			ts.Check(err)
			s.instead.Store(int32(status))
		},
		"stop":  func(s *site, _ *testscript.TestScript, _ bool, _ []string) { s.stop() },
		"start": func(s *site, _ *testscript.TestScript, _ bool, _ []string) { s.start() },
		"open": func(s *site, _ *testscript.TestScript, _ bool, _ []string) {
			s.tabs["tab"] = &window{browser.Open(s.t, s.url(s.tree)), s.t}
			s.tabs["tab"].Text("#link", "Live")
		},
		"overview": func(s *site, _ *testscript.TestScript, _ bool, args []string) {
			s.tabs["tab"] = &window{browser.Open(s.t, strings.Replace(s.url(pathlock.Tree{}), "//", "//"+strings.Join(args, ""), 1)), s.t}
		},
		"beside": func(s *site, _ *testscript.TestScript, _ bool, _ []string) {
			tab := s.tabs["tab"].Tab
			s.tabs["second"] = &window{tab.Beside(chromium.Eval[string](tab, "location.href")), s.t}
		},
	}
	for _, name := range []string{"tab", "second"} {
		commands[name] = func(s *site, ts *testscript.TestScript, _ bool, args []string) { chromium.Do(ts, s.tabs[name], args) }
	}
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, command := range commands {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			command(ts.Value("site").(*site), ts, neg, args)
		}
	}
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: cmds, Setup: func(env *testscript.Env) error {
		tree, err := pathlock.NewTree("testplan", "plan-001")
		env.Values["site"] = &site{t: env.T().(testing.TB), tree: tree, people: map[string]*person{}, tabs: map[string]*window{}}
		env.Setenv("EVIL", `<img src=x onerror="document.title='owned'">`)
		env.Setenv("WORSE", `"><script>document.title='owned'</script>{{.}}javascript:alert(1)`)
		env.Setenv("ENDLESS", strings.Repeat("n", 300))
		env.Setenv("TURNED", "\u202e\u200bgnp.exe")
		return err
	}})
}

// acquire asks for what NAME PATH NOTE [ROUTE] [OWNER] say.
func (s *site) acquire(ctx context.Context, args []string) (*pathlock.Lock, error) {
	if len(args) > 3 {
		ctx = pathlock.WithOrigin(ctx, pathlock.Origin{Operation: args[3], Route: args[3], RequestID: "req-" + args[3], Trace: args[3]})
	}
	request := pathlock.Request{Tree: s.tree, Note: args[2], Gate: args[1] == "gate"}
	if !request.Gate {
		path, err := pathlock.ParsePath(args[1])
		if err != nil {
			return nil, err
		}
		request.Claims = []pathlock.Claim{pathlock.X(path)}
	}
	return s.locker.Acquire(ctx, request)
}

func (s *site) hold(ts *testscript.TestScript, _ bool, args []string) {
	ctx := s.t.Context()
	if len(args) > 4 {
		ctx = s.people[args[4]].lock.Context()
	}
	lock, err := s.acquire(ctx, args)
	ts.Check(err)
	s.people[args[0]] = &person{lock: lock}
	s.t.Cleanup(func() { _ = lock.Release(context.WithoutCancel(s.t.Context())) })
}

// queue returns when the request is queued. The end of the test ends the wait.
func (s *site) queue(_ *testscript.TestScript, _ bool, args []string) {
	waiters := func() int {
		snapshot, err := s.locker.Snapshot(s.t.Context(), s.tree)
		testerr.Must(s.t, err)
		return len(snapshot.Waiters)
	}
	before := waiters()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	over, got := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(over)
		lock, err := s.acquire(ctx, args)
		got <- err
		if err == nil {
			<-ctx.Done()
			_ = lock.Release(context.WithoutCancel(ctx))
		}
	}()
	s.people[args[0]] = &person{got: got}
	s.t.Cleanup(func() { cancel(); <-over })
	testserver.Await(s.t, "the request is queued", func() bool { return waiters() > before })
}

func (s *site) lost(ts *testscript.TestScript, neg bool, args []string) {
	ctx := s.people[args[0]].lock.Context()
	if neg {
		ts.Check(ctx.Err())
		return
	}
	<-ctx.Done()
	testerr.Is(s.t, "the end of "+args[0], context.Cause(ctx), pathlock.ErrLost)
}

func (s *site) granted(ts *testscript.TestScript, neg bool, args []string) {
	if err := <-s.people[args[0]].got; neg != errors.Is(err, pathlock.ErrLost) || !neg && err != nil {
		ts.Fatalf("%s got %v", args[0], err)
	}
}
