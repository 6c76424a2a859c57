package requests

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Protocol begins to read what one client says. What it returns copies the next frame, and reports
// whether that is a request, or the end of one.
type Protocol func() func(in *bufio.Reader, out *bufio.Writer) (isRequest bool, err error)

// Redis is RESP: a command is a request.
func Redis() func(*bufio.Reader, *bufio.Writer) (bool, error) {
	// What begins a connection, and keeps it alive.
	beginnings := []string{"HELLO", "AUTH", "SELECT", "CLIENT", "PING"}
	line := func(in *bufio.Reader, out *bufio.Writer, first byte) (int, error) {
		text, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if _, err := out.Write(text); err != nil {
			return 0, err
		}
		if text[0] != first {
			return 0, fmt.Errorf("%q is not a command of Redis", text)
		}
		return strconv.Atoi(string(bytes.TrimSpace(text[1:])))
	}
	return func(in *bufio.Reader, out *bufio.Writer) (bool, error) {
		n, err := line(in, out, '*')
		if err != nil {
			return false, err
		}
		var name string
		for i := range n {
			size, err := line(in, out, '$')
			if err != nil {
				return false, err
			}
			if i == 0 {
				head, err := in.Peek(size)
				if err != nil {
					return false, err
				}
				name = strings.ToUpper(string(head))
			}
			if _, err := io.CopyN(out, in, int64(size)+2); err != nil {
				return false, err
			}
		}
		return !slices.Contains(beginnings, name), nil
	}
}

// MySQL is the protocol of MySQL and MariaDB: a command is a request, and may have several
// statements.
func MySQL() func(*bufio.Reader, *bufio.Writer) (bool, error) {
	const header = 4
	return func(in *bufio.Reader, out *bufio.Writer) (bool, error) {
		head, err := in.Peek(header)
		if err != nil {
			return false, err
		}
		size := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		begins := head[3] == 0 // packets of a command are numbered from 0, those of a login from 1
		_, err = io.CopyN(out, in, header+size)
		return begins, err
	}
}

// Postgres is the extended protocol of PostgreSQL, or the simple one: what ends in a Sync is a
// request, and so is a Query.
func Postgres() func(*bufio.Reader, *bufio.Writer) (bool, error) {
	return func(in *bufio.Reader, out *bufio.Writer) (bool, error) {
		kind, err := in.Peek(1)
		if err != nil {
			return false, err
		}
		skip := 1
		if kind[0] == 0 { // the first message of a connection has no kind
			skip = 0
		}
		isRequest := kind[0] == 'S' || kind[0] == 'Q'
		head, err := in.Peek(skip + 4)
		if err != nil {
			return false, err
		}
		size := binary.BigEndian.Uint32(head[skip:])
		_, err = io.CopyN(out, in, int64(skip)+int64(size))
		return isRequest, err
	}
}

// ZooKeeper is the protocol of ZooKeeper: a packet with a number is a request.
func ZooKeeper() func(*bufio.Reader, *bufio.Writer) (bool, error) {
	first := true
	return func(in *bufio.Reader, out *bufio.Writer) (bool, error) {
		const header = 8
		head, err := in.Peek(header)
		if err != nil {
			return false, err
		}
		size := binary.BigEndian.Uint32(head)
		// Pings, credentials and watches that are set again have negative numbers.
		isRequest := !first && int32(binary.BigEndian.Uint32(head[4:])) > 0
		first = false
		_, err = io.CopyN(out, in, 4+int64(size))
		return isRequest, err
	}
}

// GRPC is gRPC over HTTP/2 without TLS: a message is a request, also one on a stream.
func GRPC() func(*bufio.Reader, *bufio.Writer) (bool, error) {
	const preface, header = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 9
	begun := false
	return func(in *bufio.Reader, out *bufio.Writer) (bool, error) {
		if !begun {
			begun = true
			_, err := io.CopyN(out, in, int64(len(preface)))
			return false, err
		}
		head, err := in.Peek(header)
		if err != nil {
			return false, err
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		isData := head[3] == 0 && size > 0
		_, err = io.CopyN(out, in, header+size)
		return isData, err
	}
}
