package zk

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// Numbers of requests that have a meaning of their own.
const (
	xidEvent = -1
	xidPing  = -2
	xidAuth  = -4
)

// maxAnswer bounds what a server may send at once. It is far above what a lock store reads.
const maxAnswer = 256 << 20

// link is one connection on which a session lives. Requests are answered in their order.
type link struct {
	conn    net.Conn
	session int64
	timeout time.Duration // of one request
	event   func(path string, kind eventKind)

	mu      sync.Mutex
	err     error // why the connection is over
	xid     int32
	pending []*sent // in the order of sending
	out     []byte  // not written yet
	zxid    int64   // the latest seen
	// pinged and proven are when the last two answered pings were sent, ping when the one under way
	// was.
	pinged, proven, ping time.Time

	flush chan struct{} // there is something to write
	over  chan struct{} // closed when the connection is over
}

// sent is a request that waits for its answer.
type sent struct {
	xid  int32
	op   Op
	done func(err error)
}

func newLink(conn net.Conn, session, zxid int64, timeout time.Duration, began time.Time, event func(string, eventKind)) *link {
	return &link{
		conn: conn, session: session, timeout: timeout, event: event, zxid: zxid,
		pinged: began, proven: began,
		flush: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

// send sends a request. done is called once, with the outcome, and must not block.
func (l *link) send(op Op, done func(err error)) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		done(ErrUnreachable)
		return
	}
	l.xid = (l.xid + 1) & 0x7fffffff
	s := &sent{xid: l.xid, op: op, done: done}
	*op.answer() = Answer{Sent: time.Now(), Session: l.session}
	l.enqueue(s.xid, op.code(), op.encode)
	l.pending = append(l.pending, s)
	l.expect()
	l.mu.Unlock()
}

// enqueue hands a packet to the writer.
func (l *link) enqueue(xid, code int32, body func(*encoder)) {
	start := len(l.out)
	e := encoder{buf: append(l.out, 0, 0, 0, 0)}
	e.int32(xid)
	e.int32(code)
	body(&e)
	length := encoder{}
	length.int32(int32(len(e.buf) - start - 4))
	copy(e.buf[start:], length.buf)
	l.out = e.buf
	select {
	case l.flush <- struct{}{}:
	default:
	}
}

// expect sets the time by which the next answer must have come. The caller holds l.mu.
func (l *link) expect() {
	var oldest time.Time
	if len(l.pending) > 0 {
		oldest = l.pending[0].op.answer().Sent
	}
	if !l.ping.IsZero() && (oldest.IsZero() || l.ping.Before(oldest)) {
		oldest = l.ping
	}
	if oldest.IsZero() {
		_ = l.conn.SetReadDeadline(time.Time{})
		return
	}
	_ = l.conn.SetReadDeadline(oldest.Add(l.timeout))
}

// run serves the connection until it is over, and returns why.
func (l *link) run(beat time.Duration) error {
	var workers sync.WaitGroup
	workers.Go(l.write)
	workers.Go(func() { l.heartbeat(beat) })
	err := l.read()
	l.end(err)
	workers.Wait()
	return err
}

// end ends the connection. Requests without an answer are lost.
func (l *link) end(err error) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = err
	lost := l.pending
	l.pending = nil
	l.mu.Unlock()
	_ = l.conn.Close()
	close(l.over)
	for _, s := range lost {
		s.done(ErrLost)
	}
}

func (l *link) write() {
	for {
		select {
		case <-l.flush:
		case <-l.over:
			return
		}
		l.mu.Lock()
		out := l.out
		l.out = nil
		l.mu.Unlock()
		_ = l.conn.SetWriteDeadline(time.Now().Add(l.timeout))
		if _, err := l.conn.Write(out); err != nil {
			l.end(err)
			return
		}
	}
}

// heartbeat gives a sign of life at each interval, whatever else is sent: see covers.
func (l *link) heartbeat(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-l.over:
			return
		}
		l.mu.Lock()
		if l.ping.IsZero() {
			l.ping = time.Now()
			l.enqueue(xidPing, opPing, func(*encoder) {})
			l.expect()
		}
		l.mu.Unlock()
	}
}

// read reads answers and events until the connection is over.
func (l *link) read() error {
	r := bufio.NewReaderSize(l.conn, 32<<10)
	var buf []byte
	for {
		packet, err := readFrame(r, buf, maxAnswer)
		if err != nil {
			return err
		}
		if cap(packet) <= 1<<20 {
			buf = packet[:cap(packet)]
		}
		d := &decoder{buf: packet}
		xid, zxid, code := d.int32(), d.int64(), d.int32()
		if d.err != nil {
			return d.err
		}
		switch xid {
		case xidEvent:
			kind := eventKind(d.int32())
			d.int32() // the state of the connection
			if path := d.text(); d.err == nil {
				l.event(path, kind)
			}
		case xidPing:
			l.pong()
		default:
			if err := l.answered(xid, zxid, code, d); err != nil {
				return err
			}
		}
	}
}

// pong takes the answer to a ping.
func (l *link) pong() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proven, l.pinged, l.ping = l.pinged, l.ping, time.Time{}
	l.expect()
}

// answered takes the answer to the oldest request.
func (l *link) answered(xid int32, zxid int64, code int32, d *decoder) error {
	l.mu.Lock()
	if len(l.pending) == 0 || l.pending[0].xid != xid {
		l.mu.Unlock()
		return errMalformed
	}
	s := l.pending[0]
	l.pending = l.pending[1:]
	l.zxid = max(l.zxid, zxid)
	l.expect()
	l.mu.Unlock()

	a := s.op.answer()
	a.Zxid, a.Received = zxid, time.Now()
	if code != 0 {
		a.Err = Code(code)
	} else {
		s.op.decode(d)
	}
	s.done(d.err)
	return d.err
}

// lives returns the session as this connection proves it.
func (l *link) lives() (proven time.Time, zxid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proven, l.zxid
}
