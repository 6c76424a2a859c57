package topology

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
)

// lossy makes connections that lose replies to scripts, and break when they do.
type lossy struct {
	// lose is how many more replies to lose; lost counts them.
	lose, lost atomic.Int32
}

func (l *lossy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &lossyConn{Conn: conn, lossy: l}, nil
}

type lossyConn struct {
	net.Conn
	*lossy
	script bool // the last command was one
}

func (c *lossyConn) Write(b []byte) (int, error) {
	c.script = bytes.Contains(b, []byte("evalsha"))
	return c.Conn.Write(b)
}

func (c *lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.script && c.lose.Load() > 0 && c.lose.Add(-1) >= 0 {
		c.lost.Add(1)
		_ = c.Conn.Close()
		return 0, io.EOF // the server has carried the script out
	}
	return n, err
}

// next has the next reply lost while something is done.
func (l *lossy) next(t *testing.T, do func()) {
	t.Helper()
	before := l.lost.Load()
	l.lose.Store(1)
	do()
	if l.lost.Load() != before+1 {
		t.Error("no reply was lost")
	}
}

// TestLostReply: the client sends a command again whose reply was lost, to whoever is the primary
// then, and what is carried out twice counts once.
func TestLostReply(t *testing.T) {
	for name, start := range map[string]func(testing.TB, *lossy) (ours, theirs redis.UniversalClient){
		"sentinel": func(t testing.TB, l *lossy) (ours, theirs redis.UniversalClient) {
			s := testredis.StartSentinel(t, testredis.Redis)
			return s.Client(func(o *redis.FailoverOptions) { o.Dialer = l.dial }), s.Client()
		},
		"cluster": func(t testing.TB, l *lossy) (ours, theirs redis.UniversalClient) {
			c := testredis.StartCluster(t, testredis.Redis)
			return c.Client(func(o *redis.ClusterOptions) { o.Dialer = l.dial }), c.Client()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lossy{}
			ourClient, theirClient := start(t, l)
			ours, theirs, tree := open(t, ourClient), open(t, theirClient), newTree(t)
			warm := ask(tree, x("/a")) // so that the servers know the scripts
			take(t, ours, warm)
			renew(t, ours, warm, false)
			release(t, ours, warm)

			held := ask(tree, x("/a"))
			var grant pathlock.Grant
			l.next(t, func() { grant = take(t, ours, held) })
			holders(t, theirs, tree, 1)

			l.next(t, func() { renew(t, ours, held, false) })

			var w *waiting
			l.next(t, func() { w = queue(t, ours, ask(tree, x("/a"))) })
			l.next(t, func() { release(t, ours, held) })
			rises(t, grant, w.granted(patience))
			holders(t, theirs, tree, 1)

			l.next(t, func() { release(t, ours, w.req) })
			holders(t, theirs, tree, 0)
			if err := ours.Release(t.Context(), tree, w.req.Owner, w.req.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release of what was released: %v, want ErrNotHeld", err)
			}
		})
	}
}
