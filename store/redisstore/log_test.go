package redisstore

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testnet"
)

// TestClientsLog: what the client says about a server that is not there is in the program's log.
func TestClientsLog(t *testing.T) {
	addr, err := testnet.FreeAddr(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lines := make(lineWriter, 100)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(lines, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	store, err := Open("redis://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	if store.Ping(t.Context()) == nil {
		t.Error("the server is there")
	}
	if err := store.Close(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case line := <-lines:
		if !strings.Contains(line, `msg="redis client" message="redis: `) {
			t.Errorf("the log says %q", line)
		}
	default:
		t.Error("the log says nothing")
	}
}

// lineWriter keeps what is written to it.
type lineWriter chan string

// Write implements [io.Writer].
func (w lineWriter) Write(line []byte) (int, error) {
	select {
	case w <- string(line):
	default:
	}
	return len(line), nil
}
