package zkstore

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
)

// line is a client's connections to its servers. It counts the requests, and can be cut.
type line struct {
	mu       sync.Mutex
	gone     bool
	conns    []*lineConn
	requests map[int32]int // by ZooKeeper's number of the operation
	// cutAt counts down to the request at which the connection is cut: before it reaches the
	// server, or before its answer reaches the client.
	cutAt   int
	answers bool
	cut     bool
	session []byte // the server's latest answer to a handshake
}

const (
	opHandshake = 0 // the first packet has no number
	opGet       = 4
	opPing      = 11
	opSync      = 9
	opMulti     = 14
)

var errCut = errors.New("the line is cut")

func (l *line) option() Option {
	return WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.gone {
			_ = conn.Close()
			return nil, errCut
		}
		c := &lineConn{Conn: conn, line: l}
		l.conns = append(l.conns, c)
		return c, nil
	})
}

// vanish cuts all connections and lets none be made.
func (l *line) vanish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}

// sever cuts all connections once.
func (l *line) sever() {
	l.vanish()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = false
}

// cutRequest cuts the connection at the nth request from now: with answers, after the server has
// carried it out.
func (l *line) cutRequest(n int, answers bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cutAt, l.answers, l.cut = n, answers, false
}

func (l *line) wasCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// sent returns how many requests with the numbers of some operations were sent.
func (l *line) sent(ops ...int32) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range ops {
		n += l.requests[op]
	}
	return n
}

// lineConn is one connection of a line.
type lineConn struct {
	net.Conn
	line  *line
	begun bool   // the handshake was sent
	rest  []byte // the beginning of a packet that was not written whole
	doom  bool   // the next answer is not passed on
	heard bool   // the answer to the handshake has come
}

func (c *lineConn) Write(p []byte) (int, error) {
	written := 0
	c.rest = append(c.rest, p...)
	for len(c.rest) >= 4 {
		size := 4 + int(binary.BigEndian.Uint32(c.rest))
		if len(c.rest) < size {
			break
		}
		packet := c.rest[:size]
		c.rest = c.rest[size:]
		if c.counts(packet) {
			_ = c.Close()
			return 0, errCut
		}
		if _, err := c.Conn.Write(packet); err != nil {
			return written, err
		}
	}
	return len(p), nil
}

// counts notes a request, and reports whether the connection is to be cut before it.
func (c *lineConn) counts(packet []byte) bool {
	l := c.line
	l.mu.Lock()
	defer l.mu.Unlock()
	op := int32(opHandshake)
	if c.begun {
		op = int32(binary.BigEndian.Uint32(packet[8:]))
	}
	c.begun = true
	if l.requests == nil {
		l.requests = make(map[int32]int)
	}
	l.requests[op]++
	if op == opPing || l.cutAt == 0 {
		return false
	}
	if l.cutAt--; l.cutAt > 0 {
		return false
	}
	l.cut = true
	c.doom = l.answers
	return !l.answers
}

func (c *lineConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	if c.doom {
		_ = c.Close()
		return 0, errCut
	}
	if !c.heard {
		// The length comes alone, and then the answer.
		c.line.session = append([]byte(nil), p[:n]...)
		c.heard = n > 4
	}
	return n, err
}

// endSession ends the session of a line from outside, as an operator could who has its password.
func (l *line) endSession(t *testing.T, server string) {
	t.Helper()
	l.mu.Lock()
	answer := l.session
	l.mu.Unlock()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// Protocol, latest transaction, time-out; then id and password as the server has given them.
	hello := make([]byte, 4+4+8+4)
	binary.BigEndian.PutUint32(hello[16:], binary.BigEndian.Uint32(answer[4:]))
	hello = append(hello, answer[8:8+8+4+16]...)
	binary.BigEndian.PutUint32(hello, uint32(len(hello)-4))
	goodbye := []byte{0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5}
	if _, err := conn.Write(append(hello, goodbye...)); err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 1024); err == nil; { // until the server hangs up
		_, err = conn.Read(buf)
	}
}
