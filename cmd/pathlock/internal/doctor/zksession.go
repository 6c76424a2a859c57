package doctor

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"time"
)

// negotiate opens a session on a ZooKeeper server, ends it, and returns the time-out that the
// server has given it.
//
// The messages are those of ZooKeeper's protocol, each behind its length: a ConnectRequest without
// a session, the server's ConnectResponse, and a close.
func negotiate(ctx context.Context, addr string, timeout time.Duration) (time.Duration, error) {
	conn, err := dial(ctx, addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	var request []byte
	request = binary.BigEndian.AppendUint32(request, 0)                                                  // the protocol's version
	request = binary.BigEndian.AppendUint64(request, 0)                                                  // the last transaction that was seen
	request = binary.BigEndian.AppendUint32(request, uint32(min(timeout.Milliseconds(), math.MaxInt32))) //nolint:gosec // bounded
	request = binary.BigEndian.AppendUint64(request, 0)                                                  // no session yet
	request = binary.BigEndian.AppendUint32(request, 16)                                                 // its password's length
	request = append(request, make([]byte, 16)...)
	request = append(request, 0) // not read only
	if err := writeFrame(conn, request); err != nil {
		return 0, err
	}
	answer, err := readFrame(conn)
	if err != nil {
		return 0, err
	}
	if len(answer) < 16 {
		return 0, fmt.Errorf("the server's answer has %d bytes", len(answer))
	}
	granted := time.Duration(binary.BigEndian.Uint32(answer[4:])) * time.Millisecond
	const closeSession = -11
	var end []byte
	end = binary.BigEndian.AppendUint32(end, 1)
	operation := int32(closeSession)
	end = binary.BigEndian.AppendUint32(end, uint32(operation)) //nolint:gosec // the protocol's form of negative numbers
	if err := writeFrame(conn, end); err != nil {
		return 0, err
	}
	_, err = readFrame(conn)
	return granted, err
}

// longestFrame is more than any answer here has.
const longestFrame = 1 << 16

func writeFrame(conn net.Conn, message []byte) error {
	_, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)) //nolint:gosec // a few bytes
	return err
}

func readFrame(conn net.Conn) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > longestFrame {
		return nil, fmt.Errorf("the server's answer has %d bytes", n)
	}
	message := make([]byte, n)
	_, err := io.ReadFull(conn, message)
	return message, err
}
