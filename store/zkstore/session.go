package zkstore

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// session is one session with the servers, over one connection. Nothing in ZooKeeper is bound to a
// session but the turn of the sweeper, so a lost connection is followed by another session. Taking
// the old one up again would miss events: the library, at v1.0.4, asks for what has come since the
// latest answer that it knows of, and that may be one of the new connection.
type session struct {
	client *client
	conn   *zk.Conn
	// known says that the servers know who the user is. auth guards it.
	auth  sync.Mutex
	known bool

	begun, over atomic.Bool
	// settled is closed when the session may have watches. The library, at v1.0.4, looks for
	// watches of earlier connections at an unknown moment after the beginning, and then reads,
	// without a lock, what answers to later requests write.
	settled chan struct{}
}

// settling is how long after its beginning a session gets its first watch.
const settling = 250 * time.Millisecond

// event follows what becomes of the connection.
func (s *session) event(e zk.Event) {
	switch {
	case e.Type != zk.EventSession:
	case e.State == zk.StateHasSession:
		if s.begun.CompareAndSwap(false, true) {
			time.AfterFunc(settling, func() { close(s.settled) })
		}
	case e.State == zk.StateDisconnected && s.begun.Load():
		s.over.Store(true)
		s.client.retire(s)
	}
}

// settle returns when the session may have watches.
func (s *session) settle(ctx context.Context) error {
	select {
	case <-s.settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errOver = errors.New("the session is over")

// dial is how the library connects.
func (s *session) dial(network, address string, _ time.Duration) (net.Conn, error) {
	if s.over.Load() {
		return nil, errOver
	}
	c := s.client
	ctx, cancel := context.WithTimeout(c.closed, c.timeout/3)
	defer cancel()
	conn, err := c.dial(ctx, network, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reason = err
	if err != nil {
		return nil, err
	}
	if c.closed.Err() != nil {
		_ = conn.Close()
	}
	c.conn = conn
	return &boundedConn{Conn: conn, longest: c.timeout * 2 / 3}, nil
}

// authenticate tells the servers who the user is. The library tells it again on other connections.
func (s *session) authenticate(user []byte) (err error) {
	s.auth.Lock()
	defer s.auth.Unlock()
	if user != nil && !s.known {
		err = s.conn.AddAuth("digest", user)
		s.known = err == nil
	}
	return err
}

// rotation makes the library try the servers in turn. It looks each name up when it is its turn. It
// implements [zk.HostProvider]. The library calls it from one goroutine.
type rotation struct {
	servers []string
	next    int // counts on
	tried   int // since the beginning
}

// Init implements [zk.HostProvider].
func (r *rotation) Init(servers []string) error {
	r.servers = servers
	return nil
}

// Len implements [zk.HostProvider].
func (r *rotation) Len() int { return len(r.servers) }

// Next implements [zk.HostProvider]. The library rests for a second after each round.
func (r *rotation) Next() (server string, retryStart bool) {
	server = r.servers[r.next%len(r.servers)]
	r.next++
	retryStart = r.tried > 0 && r.tried%len(r.servers) == 0
	r.tried++
	return server, retryStart
}

// Connected implements [zk.HostProvider].
func (*rotation) Connected() {}

// boundedConn bounds the wait for the answer to the handshake, for which the library waits ten
// times as long as for any other.
type boundedConn struct {
	net.Conn
	longest time.Duration
	begun   bool // the handshake is over
}

// SetReadDeadline implements [net.Conn]. The library lifts the deadline when the answer begins.
func (i *boundedConn) SetReadDeadline(t time.Time) error {
	latest := time.Now().Add(i.longest)
	if !i.begun && t.After(latest) {
		t = latest
	}
	i.begun = i.begun || t.IsZero()
	return i.Conn.SetReadDeadline(t)
}

// silent is the library's log: errors reach the caller.
type silent struct{}

// Printf implements [zk.Logger].
func (silent) Printf(string, ...any) {}
