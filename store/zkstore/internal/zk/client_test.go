package zk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

// start returns a client of a server. Its connections are put into conns, if that is not nil.
func start(t *testing.T, server string, conns chan<- net.Conn) *Client {
	t.Helper()
	c := New(Config{
		Hosts: []string{server},
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err == nil && conns != nil {
				conns <- conn
			}
			return conn, err
		},
		SessionTimeout: 10 * time.Second, Timeout: 6 * time.Second, InFlight: 4, MaxPacket: 1 << 20,
		Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

var world = []ACL{{Perms: PermAll, Scheme: "world", ID: "anyone"}}

// do requires that the server carries a request out.
func do(t *testing.T, c *Client, op Op) {
	t.Helper()
	if err := c.Do(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if err := op.answer().Err; err != nil {
		t.Fatalf("%+v: %v", op, err)
	}
}

func TestRequests(t *testing.T) {
	server := testzk.Start(t)
	c := start(t, server.Addr, nil)
	do(t, c, &Create{Path: "/a", Data: []byte("one"), ACL: world, Mode: Container})
	first := &Create{Path: "/a/t-", ACL: world, Mode: EphemeralSequential}
	do(t, c, first)
	if first.Created != "/a/t-0000000000" {
		t.Errorf("the first sequential znode is %s", first.Created)
	}
	get, children := &Get{Path: "/a"}, &Children{Path: "/a"}
	if err := c.Do(t.Context(), &Sync{Path: "/"}, get, children); err != nil {
		t.Fatal(err)
	}
	if string(get.Data) != "one" || get.Stat.Version != 0 || get.Stat.Czxid != get.Stat.Mzxid || get.Zxid < get.Stat.Czxid {
		t.Errorf("the data is %q, %+v", get.Data, get.Stat)
	}
	if len(children.Names) != 1 || children.Names[0] != "t-0000000000" || children.Stat.NumChildren != 1 {
		t.Errorf("the children are %v, %+v", children.Names, children.Stat)
	}
	one := &Get{Path: first.Created}
	do(t, c, one)
	if one.Stat.EphemeralOwner != c.Session().ID || one.Data != nil {
		t.Errorf("the ephemeral znode is %+v of session %#x", one.Stat, c.Session().ID)
	}

	set, create := &Set{Path: "/a", Data: []byte("two"), Version: 0}, &Create{Path: "/a/t-", ACL: world, Mode: PersistentSequence}
	multi := &Multi{Ops: []Op{set, &Delete{Path: first.Created, Version: 0}, create}}
	before := time.Now()
	do(t, c, multi)
	if set.Stat.Version != 1 || set.Stat.Mzxid != multi.Zxid || create.Created != "/a/t-0000000001" {
		t.Errorf("the multi answers %+v and %s", set.Stat, create.Created)
	}
	if multi.Sent.Before(before) || !multi.Received.After(multi.Sent) || set.Stat.Mtime < multi.Sent.UnixMilli() || set.Stat.Mtime > multi.Received.UnixMilli() {
		t.Errorf("sent at %v, answered at %v, stamped %d", multi.Sent, multi.Received, set.Stat.Mtime)
	}
	failing := &Delete{Path: "/a/none", Version: -1}
	multi = &Multi{Ops: []Op{&Set{Path: "/a", Version: 1}, failing, &Delete{Path: create.Created, Version: -1}}}
	if err := c.DoMulti(t.Context(), multi); err != nil || !errors.Is(multi.Err, ErrNoNode) || multi.Failed() != Op(failing) {
		t.Errorf("a multi that fails: %v, %v", err, multi.Err)
	}
	do(t, c, get)
	if string(get.Data) != "two" {
		t.Errorf("a multi that failed has written %q", get.Data)
	}
	if err := c.DoMulti(t.Context(), &Multi{Only: 1}); !errors.Is(err, ErrOtherSession) {
		t.Errorf("a multi for another session: %v", err)
	}
	if err := c.Do(t.Context(), &Set{Path: "/a", Data: make([]byte, 1<<20)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large request: %v", err)
	}
	do(t, c, &Delete{Path: create.Created, Version: -1})
}

// TestWatchOfChildren: on a znode that cannot have any, the watch fires when the znode goes, and at
// nothing else.
func TestWatchOfChildren(t *testing.T) {
	server := testzk.Start(t)
	c, other := start(t, server.Addr, nil), start(t, server.Addr, nil)
	node := &Create{Path: "/t-", ACL: world, Mode: EphemeralSequential}
	do(t, other, node)
	looks := make(chan error, 10)
	stop := c.Watch(node.Created, WatchChildren, func(op Op) bool {
		looks <- op.answer().Err
		return op.answer().Err == nil
	})
	defer stop()
	if err := <-looks; err != nil {
		t.Fatal(err)
	}
	for range 5 {
		do(t, other, &Set{Path: node.Created, Data: []byte("a sign of life"), Version: -1})
	}
	do(t, c, &Sync{Path: "/"}) // an event would have come before the answer
	select {
	case err := <-looks:
		t.Errorf("the watch has fired at a change of data: %v", err)
	default:
	}
	do(t, other, &Delete{Path: node.Created, Version: -1})
	select {
	case err := <-looks:
		if !errors.Is(err, ErrNoNode) {
			t.Errorf("the watch has fired: %v", err)
		}
	case <-time.After(patience):
		t.Error("the watch has not fired when the znode went")
	}
}

// TestWatchOverConnections: what happens while there is no connection is seen on the next one.
func TestWatchOverConnections(t *testing.T) {
	server := testzk.Start(t)
	conns := make(chan net.Conn, 10)
	c, other := start(t, server.Addr, conns), start(t, server.Addr, nil)
	do(t, other, &Create{Path: "/n", ACL: world, Mode: Ephemeral})
	looks := make(chan string, 10)
	stop := c.Watch("/n", WatchData, func(op Op) bool {
		looks <- string(op.(*Get).Data)
		return true
	})
	<-looks
	for i := range 5 {
		_ = (<-conns).Close()
		want := fmt.Sprint(i)
		do(t, other, &Set{Path: "/n", Data: []byte(want), Version: -1})
		for over := time.After(patience); ; {
			select {
			case got := <-looks:
				if got != want {
					continue
				}
			case <-over:
				t.Fatalf("%q is not seen", want)
			}
			break
		}
	}
	stop()
	do(t, c, &Sync{Path: "/"})
	if n := server.Count("zk_watch_count"); n != 0 {
		t.Errorf("%d watches are left", n)
	}
}

// TestCallsEnd: calls end with their contexts, and those that find no place wait for one.
func TestCallsEnd(t *testing.T) {
	server := testzk.Start(t)
	c := start(t, server.Addr, nil)
	do(t, c, &Sync{Path: "/"})
	server.Pause()
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	for range cap(c.tokens) + 1 {
		go func() { errs <- c.Do(ctx, &Sync{Path: "/"}) }()
	}
	testserver.Await(t, "all places are taken", func() bool { return len(c.tokens) == cap(c.tokens) })
	cancel()
	for range cap(c.tokens) + 1 {
		select {
		case err := <-errs:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the call has ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("a call does not end with its context")
		}
	}
	server.Resume()
}

// TestProof: what a session is proven to live by is neither too new, nor older than two heartbeats.
func TestProof(t *testing.T) {
	server := testzk.Start(t)
	c := start(t, server.Addr, nil)
	do(t, c, &Sync{Path: "/"})
	began := time.Now()
	beat := heartbeatOf(c.Session().Timeout)
	if beat != time.Second {
		t.Fatalf("the heart beats every %v, want a second", beat)
	}
	last := c.Session().Proven
	testserver.Await(t, "three proofs have come", func() bool {
		now, proven := time.Now(), c.Session().Proven
		if age := now.Sub(proven); age > 3*beat {
			t.Fatalf("the proof is %v old", age)
		}
		if proven.After(last) && now.Sub(proven) < beat/2 {
			t.Fatalf("the proof is %v old: a follower need not have passed it on", now.Sub(proven))
		}
		last = proven
		return proven.Sub(began) > 2*beat
	})
}
