// Package testnet is what tests need of a network: free ports, and servers that are far away, cut
// off or out of reach.
package testnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"
)

// onTheWay is how many chunks a direction of one connection holds before the sender has to wait.
const onTheWay = 4096

// chunkSize is how many bytes are read at once, at most.
const chunkSize = 64 * 1024

// Proxy puts a distance between a client and a server on one machine. It passes on all bytes, in
// both directions, a fixed time after they came. Unlike a proxy that sleeps between reads and
// writes it is not a bottleneck: any number of bytes may be on their way at the same time, as on a
// long line.
type Proxy struct {
	listener net.Listener
	upstream string
	delay    time.Duration

	stop    context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// passing is closed unless the proxy is paused.
	passing chan struct{}
	// messages is how many chunks clients have sent, and cutAt counts down to the one at which the
	// connection is cut, before the server has it or after.
	messages, cutAt int
	late, cut       bool
	// severed is closed, and replaced, to cut all connections.
	severed chan struct{}
}

// StartProxy listens on a free port of the loopback interface and passes on what comes to upstream,
// a host and port, and back, each after the delay, until the end of the test or [Proxy.Close].
func StartProxy(t testing.TB, upstream string, delay time.Duration) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting a proxy: %v", err)
	}
	p := &Proxy{listener: listener, upstream: upstream, delay: delay, passing: make(chan struct{}), severed: make(chan struct{})}
	close(p.passing)
	p.stop, p.cancel = context.WithCancel(context.Background())
	p.running.Go(p.accept)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Addr is where the proxy listens: host and port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Dial connects to the proxy, whatever the address. While the proxy is paused nobody answers, as
// where the packets of a host are dropped. It is a dialer of go-redis and of others.
func (p *Proxy) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	select {
	case <-p.resumed():
		return new(net.Dialer).DialContext(ctx, network, p.Addr())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Pause makes the proxy keep all data until [Proxy.Resume], as if the server were stopped: it
// accepts connections, and answers nothing. Data that a client sent before it went away still
// arrives later.
func (p *Proxy) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.paused() {
		p.passing = make(chan struct{})
	}
}

// Resume ends [Proxy.Pause].
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused() {
		close(p.passing)
	}
}

// paused expects mu to be locked.
func (p *Proxy) paused() bool {
	select {
	case <-p.passing:
		return false
	default:
		return true
	}
}

// resumed returns a channel that is closed while the proxy is not paused.
func (p *Proxy) resumed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passing
}

// CutAt has the connection cut at the nth message that a client sends from now on: before the
// server has it or, if late, before the client has the answer. 0 has none cut.
func (p *Proxy) CutAt(n int, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAt, p.late, p.cut = n, late, false
}

// WasCut reports whether the message of the latest [Proxy.CutAt] has been sent.
func (p *Proxy) WasCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// Messages returns how many messages clients have sent: what was read at once is one.
func (p *Proxy) Messages() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.messages
}

// Sever cuts all connections. New ones are served.
func (p *Proxy) Sever() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.severed)
	p.severed = make(chan struct{})
}

// count counts a message, and reports whether the connection is cut at it, and how.
func (p *Proxy) count() (cut, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages++
	if p.cutAt == 0 {
		return false, false
	}
	p.cutAt--
	p.cut = p.cutAt == 0
	return p.cut, p.late
}

// sever returns what is closed when the connections that there are now are cut.
func (p *Proxy) sever() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.severed
}

// Close cuts all connections and returns when nothing runs any more.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.running.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing a proxy: %w", err)
	}
	return nil
}

// accept serves connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve passes on what both ends of a connection say until one of them has nothing more to say.
func (p *Proxy) serve(client net.Conn) {
	severed := p.sever()
	var dialer net.Dialer
	server, err := dialer.DialContext(p.stop, "tcp", p.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	ended, end := context.WithCancel(p.stop)
	defer end()
	var directions sync.WaitGroup
	deaf := make(chan struct{}) // closed when the client gets no more answers
	directions.Go(func() {
		p.pass(ended, end, server, client, func(write func() error) error {
			cut, late := p.count()
			switch {
			case cut && late:
				close(deaf)
				_ = write()
				<-time.After(carriedOut)
				return errCut
			case cut:
				return errCut
			default:
				return write()
			}
		})
	})
	directions.Go(func() {
		p.pass(ended, end, client, server, func(write func() error) error {
			select {
			case <-deaf:
				return nil
			default:
				return write()
			}
		})
	})
	select {
	case <-ended.Done():
	case <-severed:
		end()
	}
	_ = client.Close()
	_ = server.Close()
	directions.Wait()
}

var errCut = errors.New("the connection is cut")

// carriedOut is how long a server has to carry out a message whose answer is lost.
const carriedOut = 100 * time.Millisecond

// chunk is what was read at once, and when it is due at the other end.
type chunk struct {
	bytes []byte
	due   time.Time
}

// pass reads from one end until it is closed, and delivers to the other what was read, when it is
// due.
func (p *Proxy) pass(ctx context.Context, end context.CancelFunc, to, from net.Conn, deliver func(write func() error) error) {
	line := make(chan chunk, onTheWay)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(line)
		buffer := make([]byte, chunkSize)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				select {
				case line <- chunk{append([]byte(nil), buffer[:n]...), time.Now().Add(p.delay)}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	p.deliver(ctx, line, func(b []byte) error {
		return deliver(func() error { _, err := to.Write(b); return err })
	})
	end()
	reading.Wait()
}

// deliver writes the chunks when they are due, until there are no more.
func (p *Proxy) deliver(ctx context.Context, line <-chan chunk, write func([]byte) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c := range line {
		timer.Reset(time.Until(c.due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		select {
		case <-p.resumed():
		case <-ctx.Done():
			return
		}
		if err := write(c.bytes); err != nil {
			return
		}
	}
}
