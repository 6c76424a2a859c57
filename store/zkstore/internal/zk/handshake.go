package zk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Session is what a server has promised about a session.
type Session struct {
	// ID is the session's number, 0 while there is none.
	ID int64
	// Timeout is how long the session lives after its last sign of life.
	Timeout time.Duration
	// Proven is a moment at which the leader is certain to have had a sign of life of the session:
	// the session lives for at least Timeout from then on.
	Proven time.Time
}

// credentials are what a session is taken up again with.
type credentials struct {
	id       int64
	password []byte
	zxid     int64 // the latest transaction seen: a server that is behind it refuses the session
}

var (
	// errSessionGone is the answer to one who takes up a session that has ended.
	errSessionGone = errors.New("the session has expired")
	errHandshake   = errors.New("the server opens no session")
)

// maxHandshake bounds the answer to a handshake.
const maxHandshake = 4096

// shakeHands begins a session on a new connection, or takes one up again.
func shakeHands(conn net.Conn, known credentials, timeout time.Duration, auth []Auth) (credentials, time.Duration, error) {
	var e encoder
	e.int32(0) // the protocol's version
	e.int64(known.zxid)
	e.int32(int32(timeout / time.Millisecond))
	e.int64(known.id)
	if known.password == nil {
		known.password = make([]byte, 16)
	}
	e.bytes(known.password)
	e.bool(false) // not to a server that only reads
	if _, err := conn.Write(frame(e.buf)); err != nil {
		return known, 0, err
	}
	answer, err := readFrame(conn, nil, maxHandshake)
	if err != nil {
		return known, 0, fmt.Errorf("%w: %w", errHandshake, err)
	}
	d := decoder{buf: answer}
	d.int32()
	negotiated := time.Duration(d.int32()) * time.Millisecond
	known.id, known.password = d.int64(), d.bytes()
	if d.err != nil {
		return known, 0, d.err
	}
	if negotiated <= 0 || known.id == 0 {
		return known, 0, errSessionGone
	}
	for _, a := range auth {
		if err := authenticate(conn, a); err != nil {
			return known, 0, err
		}
	}
	return known, negotiated, nil
}

// authenticate sends credentials, and waits until they are accepted.
func authenticate(conn net.Conn, a Auth) error {
	e := encoder{}
	e.int32(xidAuth)
	e.int32(opAuth)
	e.int32(0)
	e.text(a.Scheme)
	e.bytes(a.Secret)
	if _, err := conn.Write(frame(e.buf)); err != nil {
		return err
	}
	for {
		answer, err := readFrame(conn, nil, maxHandshake)
		if err != nil {
			return err
		}
		d := decoder{buf: answer}
		xid, _, code := d.int32(), d.int64(), d.int32()
		switch {
		case d.err != nil:
			return d.err
		case xid != xidAuth: // an event of a session that is taken up again
			continue
		case code != 0:
			return Code(code)
		}
		return nil
	}
}

// frame puts a packet's length before it.
func frame(packet []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, len(packet)+4), uint32(len(packet))), packet...)
}

// readFrame reads one packet, into buf if there is room.
func readFrame(r io.Reader, buf []byte, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(head[:])))
	if n < 0 || n > most {
		return nil, fmt.Errorf("%w: of %d bytes", errMalformed, n)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	return buf, err
}
