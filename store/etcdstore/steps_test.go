package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testlock"
)

// fault is how a connection fails.
type fault int

const (
	lostRequest fault = iota // the server does not hear of it
	lostReply                // the server carries it out, and the client does not hear of that
)

func (f fault) String() string { return [...]string{"request", "reply"}[f] }

var errLine = status.Error(codes.Unavailable, "the line is cut")

// faultyLine has the connection of one client fail at a request.
type faultyLine struct {
	mu    sync.Mutex
	count int
	// at is the request to fail, 0 for none. Those that follow fail, too, if forever is set.
	at      int
	forever bool
	fault   fault
	failed  []string
}

// arm has the nth request from now on fail.
func (l *faultyLine) arm(n int, f fault, forever bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count, l.at, l.fault, l.forever, l.failed = 0, n, f, forever, nil
}

// mend ends all failing, and returns what has failed.
func (l *faultyLine) mend() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = 0
	return l.failed
}

// fails counts a request and reports whether it is to fail.
func (l *faultyLine) fails(method string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	if l.at == 0 || l.count < l.at || l.count > l.at && !l.forever {
		return false
	}
	l.failed = append(l.failed, method[strings.LastIndexByte(method, '/')+1:])
	return true
}

func (l *faultyLine) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	fails := l.fails(method)
	if fails && l.fault == lostRequest {
		return errLine
	}
	err := invoke(ctx, method, req, reply, cc, opts...)
	if fails {
		return errLine
	}
	return err
}

func (l *faultyLine) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if l.fails(method) {
		return nil, errLine
	}
	return streamer(ctx, desc, cc, method, opts...)
}

// newFaultyStore returns a store on a line of its own that is in order.
func newFaultyStore(t *testing.T, addr string, opts ...Option) (*Store, *faultyLine) {
	t.Helper()
	l := &faultyLine{}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{addr}, Logger: zap.NewNop(), MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(l.unary), grpc.WithChainStreamInterceptor(l.stream)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return newStore(t, client, opts...), l
}

// named asks for X on a path with a short lease.
func named(tree pathlock.Tree, owner pathlock.Owner, path string) pathlock.Acquisition {
	req := testlock.Ask(tree, x(path))
	req.Owner, req.Grant, req.Lease = owner, pathlock.GrantID(owner+"'s"), 2*time.Second
	return req
}

// steps are what is done on a faulty line. Each begins with what the first owner holds.
var steps = []struct {
	name string
	do   func(t *testing.T, s *Store, tree pathlock.Tree) error
}{
	{"acquire", func(t *testing.T, s *Store, tree pathlock.Tree) error {
		_, err := s.Acquire(t.Context(), named(tree, "second", "/b"))
		return err
	}},
	{"renew", func(t *testing.T, s *Store, tree pathlock.Tree) error {
		lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: "first", For: 3 * time.Second}})
		if err == nil && len(lost) > 0 {
			return pathlock.ErrLost
		}
		return err
	}},
	{"detach", func(t *testing.T, s *Store, tree pathlock.Tree) error {
		to := pathlock.Owner("d-" + strings.Repeat("A", 26))
		got, err := s.Transfer(t.Context(), pathlock.Transfer{Tree: tree, From: "first", To: to, Lease: 3 * time.Second})
		if err == nil && len(got.Grants) != 1 {
			return fmt.Errorf("%d grants have been transferred", len(got.Grants))
		}
		return err
	}},
	{"release", func(t *testing.T, s *Store, tree pathlock.Tree) error {
		return s.Release(t.Context(), tree, "first", "first's")
	}},
}

func TestEveryStepSurvivesALostMessage(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	for _, step := range steps {
		for _, fault := range []fault{lostRequest, lostReply} {
			t.Run(fmt.Sprintf("%s, a lost %s", step.name, fault), func(t *testing.T) {
				t.Parallel()
				n := 1
				for ; ; n++ {
					s, l := newFaultyStore(t, server.Addr)
					tree := testlock.Tree(t)
					before := testlock.Take(t, s, named(tree, "first", "/a"))
					l.arm(n, fault, false)
					if err := step.do(t, s, tree); err != nil {
						t.Errorf("with %v lost: %v", l.mend(), err)
					}
					if len(l.mend()) == 0 {
						break // all messages of the step have been lost once
					}
					third := named(tree, "third", "/a")
					third.Wait = testlock.Patience
					after := testlock.Take(t, newStore(t, client), third)
					if after.Fence <= before.Fence {
						t.Errorf("fence %d after %d", after.Fence, before.Fence)
					}
				}
				if n < 2 {
					t.Error("the step has sent nothing")
				}
			})
		}
	}
}

func TestEveryStepFailsClosedWhenCutOff(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	survivor := newStore(t, client)
	for _, step := range steps {
		for _, fault := range []fault{lostRequest, lostReply} {
			t.Run(fmt.Sprintf("%s, every %s lost", step.name, fault), func(t *testing.T) {
				t.Parallel()
				for n := 1; ; n++ {
					s, l := newFaultyStore(t, server.Addr, WithTimeout(500*time.Millisecond))
					tree := testlock.Tree(t)
					testlock.Take(t, s, named(tree, "first", "/a"))
					l.arm(n, fault, true)
					err := step.do(t, s, tree)
					failed := l.mend()
					if len(failed) == 0 {
						break
					}
					if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
						t.Errorf("with %v lost: %v, want what matches ErrUnavailable", failed, err)
					}
					// Whatever has become of it, it keeps nobody out for longer than one lease.
					for _, path := range []string{"/a", "/b"} {
						req := named(tree, pathlock.Owner("after "+path), path)
						req.Wait = testlock.Patience
						testlock.Take(t, survivor, req)
					}
				}
			})
		}
	}
}
