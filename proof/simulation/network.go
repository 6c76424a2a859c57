package simulation

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// network is the path from one instance to the server. Data arrives after a delay, in order, as
// over TCP. While the network is down, nothing arrives. A cut ends all connections, and loses what
// is on its way.
type network struct {
	random *rand.Rand // for the seeds of the connections
	delay  time.Duration
	serve  func(net.Conn)
	breaks bool // a connection breaks now and then, or lags behind the others
	// waits end what waits on the server for the instance, one after the other.
	waits []context.CancelFunc

	mu    sync.Mutex
	up    time.Time // when what is sent goes through again
	gone  bool      // for good
	conns []*conn   // one end of each connection
}

// dial opens a connection to the server, at once or not at all. The client dials, and greets the
// server, under a lock that its Close takes, too: whoever waits for a lock stops virtual time.
func (n *network) dial() (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	seed := n.random.Uint64()
	if n.gone || n.up.After(time.Now()) {
		return nil, syscall.ECONNREFUSED
	}
	here, there := newEnd(n, seed), newEnd(n, seed+1)
	here.other, there.other = there, here
	n.conns = append(n.conns, here)
	go n.serve(there)
	return here, nil
}

// greeting finds what the client sends first over a connection.
var greeting = regexp.MustCompile(`(?i)^\*\d+\r\n\$\d+\r\n(hello|client)\r\n`)

// stall lets nothing through for a time. A shorter stall within a longer one ends nothing: what was
// sent before would come later than any system delivers what a closed connection has left.
func (n *network) stall(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if up := time.Now().Add(d); up.After(n.up) {
		n.up = up
	}
}

// cut ends all connections, one after the other.
func (n *network) cut() {
	n.mu.Lock()
	conns := n.conns
	n.conns = nil
	n.mu.Unlock()
	for k, c := range conns {
		time.AfterFunc(time.Duration(k)*time.Microsecond, func() {
			c.fail(syscall.ECONNRESET)
			c.other.fail(syscall.ECONNRESET)
		})
	}
}

// takes returns how long one way takes for what is sent now.
func (n *network) takes(random *rand.Rand) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gone {
		return 1000 * time.Hour
	}
	return max(time.Until(n.up), 0) + time.Duration(random.Int64N(int64(n.delay))) + 1
}

// wait returns the context of something that waits on the server.
func (n *network) wait() (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(context.Background())
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waits = append(n.waits, end)
	return ctx, end
}

// breaksNow says whether one of so many messages meets a connection that breaks.
func (n *network) breaksNow(random *rand.Rand, in int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.breaks && random.IntN(in) == 0
}

func (n *network) isGone() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.gone
}

// end lets nothing through any more: the instance is gone. Its own ends of the connections stay
// open.
func (n *network) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = true
	for _, end := range n.waits {
		end()
	}
	for _, c := range n.conns {
		c.other.fail(io.EOF)
	}
}

// conn is one end of a connection.
type conn struct {
	net.Conn // nil: the rest is not used
	network  *network
	other    *conn
	random   *rand.Rand

	mu       sync.Mutex
	arrived  []byte
	last     time.Time // when the last of what was sent to here arrives
	failed   error
	deadline time.Time
	greets   bool          // it answers a greeting
	changed  chan struct{} // closed when any of these has changed
}

func newEnd(n *network, seed uint64) *conn {
	return &conn{network: n, random: rand.New(rand.NewPCG(seed, 0)), changed: make(chan struct{})}
}

// change does something to the end, and wakes whoever reads.
func (c *conn) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *conn) fail(err error) {
	c.change(func() {
		if c.failed == nil {
			c.failed = err
		}
	})
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		n := copy(p, c.arrived)
		c.arrived = c.arrived[n:]
		failed, deadline, changed := c.failed, c.deadline, c.changed
		c.mu.Unlock()
		switch late := !deadline.IsZero() && !time.Now().Before(deadline); {
		case n > 0:
			return n, nil
		case failed != nil:
			return 0, failed
		case late:
			return 0, os.ErrDeadlineExceeded
		case deadline.IsZero():
			<-changed
		default:
			timer := time.NewTimer(time.Until(deadline))
			select {
			case <-changed:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	failed, answers := c.failed, c.greets
	// Nothing happens at the same moment: who is first is not left to the scheduler.
	takes := time.Duration(c.random.Int64N(int64(c.network.delay))) + c.network.delay/10
	if c.network.breaks && c.random.IntN(200) == 0 { // what others send later overtakes this
		takes += time.Duration(c.random.ExpFloat64() * float64(timeout))
	}
	c.mu.Unlock()
	if failed != nil {
		return 0, failed
	}
	sent := append([]byte(nil), p...)
	greets := greeting.Match(p)
	c.other.mu.Lock()
	c.other.greets = greets
	c.other.mu.Unlock()
	if greets || answers {
		c.other.change(func() { c.other.arrived = append(c.other.arrived, sent...) })
		return len(p), nil
	}
	c.send(takes, func(to *conn) { to.arrived = append(to.arrived, sent...) })
	return len(p), nil
}

// send has something happen to the other end when what is sent now arrives, which is after all that
// was sent before.
func (c *conn) send(takes time.Duration, do func(to *conn)) {
	c.network.mu.Lock()
	up, gone := c.network.up, c.network.gone
	c.network.mu.Unlock()
	if gone {
		return
	}
	now := time.Now()
	at := now.Add(takes)
	if up.After(now) {
		at = up.Add(takes)
	}
	to := c.other
	to.mu.Lock()
	if !at.After(to.last) {
		at = to.last.Add(1)
	}
	to.last = at
	to.mu.Unlock()
	time.AfterFunc(at.Sub(now), func() {
		to.change(func() {
			if to.failed == nil {
				do(to)
			}
		})
	})
}

// Close ends this end at once, and the other one after it has got what was sent.
func (c *conn) Close() error {
	c.fail(net.ErrClosed)
	c.send(c.network.delay, func(to *conn) { to.failed = io.EOF })
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.change(func() { c.deadline = t })
	return nil
}

func (c *conn) SetDeadline(t time.Time) error    { return c.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
func (c *conn) LocalAddr() net.Addr              { return address }
func (c *conn) RemoteAddr() net.Addr             { return address }

var address = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6379}
