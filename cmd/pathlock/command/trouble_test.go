package command_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
)

// Whoever interrupts a look at a store that hangs does not wait for the store.
func TestLs_interruptedEndsAtOnce(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	server.Pause()
	for _, name := range []string{"ls", "doctor"} {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(200*time.Millisecond, cancel)
		code := command.Main(ctx, []string{name, "--locks", "redis://" + server.Addr + "/0"}, io.Discard, io.Discard)
		if took := time.Since(began); code != 130 || took > 2*time.Second {
			t.Errorf("%s: exit code %d after %v", name, code, took)
		}
	}
}

// While the store is down, watch says so once, and says when it is back.
func TestWatchOutage(t *testing.T) {
	var errs bytes.Buffer
	command.Outage(&errs, nil, errors.New("refused"), errors.New("refused"), nil, nil, errors.New("again"))
	const want = "pathlock: refused\npathlock: the lock store answers again\npathlock: again\n"
	if errs.String() != want {
		t.Errorf("it writes\n%swant\n%s", &errs, want)
	}
}
