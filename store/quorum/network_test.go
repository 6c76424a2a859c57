package quorum_test

import (
	"context"
	"net"
	"sync"
)

// network stands between a process and its members. While it has vanished, it swallows all packets,
// those of connections that are made as well as those of connections that there are.
type network struct {
	mu     sync.Mutex
	healed chan struct{} // closed while packets pass
}

func newNetwork() *network {
	n := &network{healed: make(chan struct{})}
	close(n.healed)
	return n
}

func (n *network) vanish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.healed = make(chan struct{})
}

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.healed:
	default:
		close(n.healed)
	}
}

func (n *network) passes() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.healed
}

func (n *network) there() bool {
	select {
	case <-n.passes():
		return true
	default:
		return false
	}
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	select {
	case <-n.passes():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	return &swallowing{conn, n}, nil
}

// swallowing is a connection that a network may swallow.
type swallowing struct {
	net.Conn
	network *network
}

func (s *swallowing) Write(b []byte) (int, error) {
	if !s.network.there() {
		return len(b), nil
	}
	return s.Conn.Write(b)
}

func (s *swallowing) Read(b []byte) (int, error) {
	for {
		n, err := s.Conn.Read(b)
		if err != nil || s.network.there() {
			return n, err
		}
	}
}
