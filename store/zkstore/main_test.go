package zkstore

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testprocesses"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func TestMain(m *testing.M) {
	if testprocesses.Main(func(url string) (pathlock.Store, error) { return Open(url) }) {
		return
	}
	if err := testserver.WaitTogether(); err != nil {
		panic(err)
	}
	stop, err := serveExamples()
	if err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		stop()
		os.Exit(code)
	}))
}

// serverVariable has the address of the server that examples use.
const serverVariable = "PATHLOCK_TEST_ZOOKEEPER"

// serveExamples starts that server, or has the examples skipped where none can be started.
func serveExamples() (stop func(), err error) {
	if testzk.Lacking() != "" {
		return func() {}, testserver.SkipExamples("^Example(New|Open)$", serverVariable)
	}
	addr, stop, err := testzk.Serve(context.Background())
	if err != nil {
		return nil, err
	}
	return stop, os.Setenv(serverVariable, addr)
}

// TestStore has clients on several servers, which may be behind the leader.
func TestStore(t *testing.T) { conforms(t, testzk.StartEnsemble(t).Hosts()) }

func conforms(t *testing.T, servers string, opts ...Option) {
	t.Helper()
	storetest.Run(t, func(t *testing.T) pathlock.Store { return newStore(t, servers, opts...) },
		storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			first, _, _ := strings.Cut(servers, ",")
			addr, proxy := behind(t, first)
			return newStore(t, servers, opts...), newStore(t, addr, opts...), func() { _ = proxy.Close() }
		}), storetest.Silence(func(t *testing.T) storetest.Silent {
			first, _, _ := strings.Cut(servers, ",")
			addr, proxy := behind(t, first)
			store := newStore(t, addr, append(opts, WithTimeout(time.Second))...)
			t.Cleanup(proxy.Resume)
			return storetest.Silent{Store: store, Timeout: time.Second, Stop: proxy.Pause, Resume: proxy.Resume, Other: newStore(t, servers, opts...)}
		}))
}

// behind returns proxies before some servers, of which the first is returned, too.
func behind(t testing.TB, servers string) (addrs string, first *testnet.Proxy) {
	t.Helper()
	var all []string
	for server := range strings.SplitSeq(servers, ",") {
		proxy, err := testnet.StartProxy(t.Context(), server, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = proxy.Close() })
		all = append(all, proxy.Addr())
		if first == nil {
			first = proxy
		}
	}
	return strings.Join(all, ","), first
}

// newStore returns a store on some servers that is closed at the end of the test.
func newStore(t testing.TB, servers string, opts ...Option) *Store {
	t.Helper()
	s, err := New(strings.Split(servers, ","), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		_ = s.Close(ctx) // the servers may have gone by now
	})
	return s
}

// newTree returns a tree that nobody else uses.
func newTree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("zkstore", t.Name()+" "+rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

const (
	// long is a lease, or a wait, that no test sees the end of.
	long = 30 * time.Second
	// short is a lease that is meant to end during the test.
	short = 700 * time.Millisecond
	// patience is how long a test waits for what has to happen. It is shorter than the third of a
	// long lease after which a waiter asks again by itself, so that a watch that does not fire is
	// missed.
	patience = 8 * time.Second
)

// ask returns a request of a new owner that does not wait.
func ask(tree pathlock.Tree, claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree:   tree,
		Owner:  pathlock.Owner(rand.Text()),
		Grant:  pathlock.GrantID(rand.Text()),
		Claims: pathlock.Normalize(claims...),
		Lease:  long,
		Note:   "test",
	}
}

func x(path string) pathlock.Claim  { return pathlock.X(pathlock.MustParsePath(path)) }
func ix(path string) pathlock.Claim { return pathlock.IX(pathlock.MustParsePath(path)) }

// few returns the first claims of a set, to be shown.
func few(claims []pathlock.Claim) []pathlock.Claim { return claims[:min(len(claims), 4)] }

// take requires that a request is granted.
func take(t testing.TB, s *Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	grant, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("acquire %v: %v", few(req.Claims), err)
	}
	return grant
}

// release requires that a grant can be given back.
func release(t testing.TB, s *Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(context.WithoutCancel(t.Context()), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// waiting is a request that waits.
type waiting struct {
	t     testing.TB
	req   pathlock.Acquisition
	over  chan struct{}
	grant pathlock.Grant
	err   error
}

// queue requires that a request begins to wait.
func queue(t testing.TB, s *Store, req pathlock.Acquisition) *waiting {
	t.Helper()
	if req.Wait == 0 {
		req.Wait = long
	}
	begun := make(chan struct{})
	req.Waiting = func() { close(begun) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &waiting{t: t, req: req, over: make(chan struct{})}
	go func() {
		defer close(w.over)
		w.grant, w.err = s.Acquire(ctx, req)
	}()
	t.Cleanup(func() { cancel(); <-w.over })
	select {
	case <-begun:
	case <-w.over:
		t.Fatalf("acquire %v: fence %d, error %v; want it to wait", few(req.Claims), w.grant.Fence, w.err)
	case <-time.After(patience):
		t.Fatalf("acquire %v: neither queued nor refused", few(req.Claims))
	}
	return w
}

// granted requires that the wait ends with a grant.
func (w *waiting) granted() pathlock.Grant {
	w.t.Helper()
	select {
	case <-w.over:
	case <-time.After(patience):
		w.t.Fatalf("%v: still waits", few(w.req.Claims))
	}
	if w.err != nil {
		w.t.Fatalf("%v: %v, want a grant", few(w.req.Claims), w.err)
	}
	return w.grant
}

// empty requires that a tree has no tickets, and nobody who watches any.
func empty(t testing.TB, s *Store, tree pathlock.Tree) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	r, err := s.backend.read(ctx, tree, true)
	if err != nil || len(r.record.tickets.Tickets) > 0 {
		t.Fatalf("the tickets %v are left, error %v", r.record.tickets.Tickets, err)
	}
	names, err := once(ctx, s.backend.client, func(conn *zk.Conn) ([]string, error) {
		names, _, err := conn.Children(s.backend.names.tree(tree))
		return names, err
	})
	if err != nil && !errors.Is(err, zk.ErrNoNode) || len(names) > 1 {
		t.Fatalf("the znodes %v are left, error %v", names, err)
	}
}

// holders requires that a number of grants is held in a tree.
func holders(t testing.TB, s *Store, tree pathlock.Tree, want int) {
	t.Helper()
	snapshot, err := s.Snapshot(context.WithoutCancel(t.Context()), tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Holders) != want || len(snapshot.Waiters) != 0 {
		t.Fatalf("%d hold and %d wait, want %d and none: %+v", len(snapshot.Holders), len(snapshot.Waiters), want, snapshot)
	}
}
