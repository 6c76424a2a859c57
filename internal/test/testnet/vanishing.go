package testnet

import (
	"context"
	"net"
	"sync"
)

// Network stands between a client and its servers. While it has vanished, it swallows all packets,
// those of connections that are made as well as those of connections that there are.
type Network struct {
	mu     sync.Mutex
	healed chan struct{} // closed while packets pass
}

// NewNetwork returns a network that lets packets pass.
func NewNetwork() *Network {
	n := &Network{healed: make(chan struct{})}
	close(n.healed)
	return n
}

// Vanish has the network swallow packets.
func (n *Network) Vanish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.healed = make(chan struct{})
}

// Heal lets packets pass again.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.healed:
	default:
		close(n.healed)
	}
}

func (n *Network) passes() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.healed
}

func (n *Network) there() bool {
	select {
	case <-n.passes():
		return true
	default:
		return false
	}
}

// Dial connects through the network. It is a dialer of go-redis and of others.
func (n *Network) Dial(ctx context.Context, kind, addr string) (net.Conn, error) {
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
	network *Network
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
