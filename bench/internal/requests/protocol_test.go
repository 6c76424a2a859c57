package requests

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

// sized is a packet with its length in front, in big-endian order, and what it counts from.
func sized(kind string, body string, counted int) string {
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(body)+counted))
	return kind + string(size[:]) + body
}

// mysqlPacket is a packet with its number.
func mysqlPacket(number byte, body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), number}) + body
}

// http2Frame is a frame of a type.
func http2Frame(kind byte, body string) string {
	return string([]byte{0, byte(len(body) >> 8), byte(len(body)), kind, 0, 0, 0, 0, 1}) + body
}

// What clients say is passed on to the letter, and requests are counted, and nothing else.
func TestRequestsAreCounted(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct {
		name     string
		protocol Protocol
		says     []string
		want     int
	}{
		{"Redis", Redis, []string{
			"*2\r\n$5\r\nhello\r\n$1\r\n3\r\n",                          // begins the connection
			"*1\r\n$4\r\nping\r\n",                                      // keeps it alive
			"*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n",                       // a value with a line's end
			"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n" + long + "\r\n", // longer than any buffer
		}, 2},
		{"MySQL", MySQL, []string{
			mysqlPacket(1, "login"), mysqlPacket(0, "\x03SELECT 1"), mysqlPacket(0, "\x03"+long[:70_000]), mysqlPacket(1, "the rest"),
		}, 2},
		{"Postgres", Postgres, []string{
			sized("", "startup", 4), sized("P", "parse", 4), sized("B", "bind"+long, 4), sized("S", "", 4), sized("Q", "SELECT 1\x00", 4), sized("H", "", 4),
		}, 2},
		{"ZooKeeper", ZooKeeper, []string{
			sized("", "\x00\x00\x00\x01connect", 0), sized("", "\x00\x00\x00\x01create"+long, 0), sized("", "\xff\xff\xff\xfeping", 0), sized("", "\x00\x00\x00\x02get", 0),
		}, 2},
		{"gRPC", GRPC, []string{
			"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", http2Frame(4, "settings"), http2Frame(1, "headers"), http2Frame(0, "message"), http2Frame(0, ""), http2Frame(8, "more"), http2Frame(0, "message"),
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := strings.Join(tt.says, "")
			var passed bytes.Buffer
			in, out := bufio.NewReader(strings.NewReader(all)), bufio.NewWriter(&passed)
			next, count := tt.protocol(), 0
			var err error
			for err == nil {
				var is bool
				if is, err = next(in, out); is && err == nil {
					count++
				}
			}
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if err := out.Flush(); err != nil {
				t.Fatal(err)
			}
			if count != tt.want || passed.String() != all {
				t.Errorf("%d requests, want %d; %d bytes passed on, want %d", count, tt.want, passed.Len(), len(all))
			}
		})
	}
}
