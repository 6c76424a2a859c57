package command_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// seen is a line of watch.
type seen struct {
	Type, Holder string
	WaitsFor     []struct{ Holder string } `json:"waits_for"`
}

// Where it is no terminal, watch writes a line for each change, as it happens, until a signal ends
// it. Then the exit code is 0.
func TestWatchWritesChanges(t *testing.T) {
	t.Parallel()
	url := testserver.Redis(t)
	locker := opened(t, url)
	tree := must(pathlock.NewTree(fmt.Sprintf("watch/%d", time.Now().UnixNano()), "plan 001"))
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}})
	testerr.Must(t, err)
	cmd := program(t, "watch", command.NameOf(tree), "--locks", url, "--json", "--interval", "100ms")
	out, err := cmd.StdoutPipe()
	testerr.Must(t, err)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	testerr.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it may have been waited for
	})
	lines := bufio.NewScanner(out)
	next := func(kind string) seen {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("there is no line for %s: %s", kind, &errs)
		}
		var s seen
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if s.Type != kind {
			t.Fatalf("the line is %s, want one of type %s", lines.Text(), kind)
		}
		return s
	}
	holder := next("holder").Holder
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.S(pathlock.MustParsePath("/dir1"))}, Wait: pathlock.Forever}
	granted := make(chan *pathlock.Lock, 1)
	go func() {
		second, err := locker.Acquire(t.Context(), request)
		testerr.None(t, err)
		granted <- second
	}()
	waiter := next("waiter")
	if len(waiter.WaitsFor) != 1 || waiter.WaitsFor[0].Holder != holder {
		t.Errorf("it waits: %+v, want for %s", waiter, holder)
	}
	testerr.Must(t, lock.Release(t.Context()))
	if s := next("released"); s.Holder != holder {
		t.Errorf("released: %+v, want %s", s, holder)
	}
	if s := next("holder"); s.Holder != waiter.Holder { // and no line that the waiter has left
		t.Errorf("it holds %+v, want %s", s, waiter.Holder)
	}
	testerr.Must(t, (<-granted).Release(t.Context()))
	next("released")
	testerr.Must(t, cmd.Process.Signal(syscall.SIGINT))
	if lines.Scan() {
		t.Errorf("after the signal, it writes %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("it ends with %v: %s", err, &errs)
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
