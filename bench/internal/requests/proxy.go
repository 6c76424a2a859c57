package requests

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Proxy passes on what clients and a server say, and counts the requests.
type Proxy struct {
	listener net.Listener
	upstream string
	protocol Protocol
	count    atomic.Int64

	stop    context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start listens on a free port of the loopback interface, and passes on what comes to upstream, a
// host and port. Call Close in the end.
func Start(ctx context.Context, upstream string, protocol Protocol) (*Proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	p := &Proxy{listener: listener, upstream: upstream, protocol: protocol}
	p.stop, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens: host and port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Count is how many requests there were. Keep-alives and what begins a connection do not count. A
// request counts before the server gets it.
func (p *Proxy) Count() int64 { return p.count.Load() }

// Close cuts all connections, and returns when nothing runs any more.
func (p *Proxy) Close() error {
	p.cancel()
	err := p.listener.Close()
	p.running.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing a proxy: %w", err)
	}
	return nil
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve passes on what both ends of a connection say until one of them ends it.
func (p *Proxy) serve(client net.Conn) {
	ended, end := context.WithCancel(p.stop)
	defer end()
	server, err := (&net.Dialer{}).DialContext(ended, "tcp", p.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		defer end()
		_ = p.pass(client, server) // whoever cut the connection knows
	})
	both.Go(func() {
		defer end()
		_, _ = io.Copy(client, server)
	})
	<-ended.Done()
	_, _ = client.Close(), server.Close()
	both.Wait()
}

// pass passes on what a client says, one frame after the other.
func (p *Proxy) pass(client io.Reader, server io.Writer) error {
	in, out := bufio.NewReaderSize(client, 64<<10), bufio.NewWriterSize(server, 64<<10)
	next := p.protocol()
	for {
		isRequest, err := next(in, out)
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if isRequest {
			p.count.Add(1)
		}
		if in.Buffered() > 0 {
			continue
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}
