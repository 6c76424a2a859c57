package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// held takes a lock on /dir1 of a tree of its own in Redis. It returns the store's URL, the tree,
// the lock, and what the commands call its holder.
func held(t *testing.T, note string) (url string, tree pathlock.Tree, lock *pathlock.Lock, holder string) {
	t.Helper()
	url = testserver.Redis(t)
	tree, lock, holder = heldOn(t, url, note)
	return url, tree, lock, holder
}

// heldOn is [held] on the Redis of a URL.
func heldOn(t *testing.T, url, note string) (tree pathlock.Tree, lock *pathlock.Lock, holder string) {
	t.Helper()
	store, err := anystore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	tree, err = pathlock.NewTree(fmt.Sprintf("terminal-%d-%d", os.Getpid(), time.Now().UnixNano()), "plan-001")
	if err != nil {
		t.Fatal(err)
	}
	locker := pathlock.New(store)
	lock, err = locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Note: note})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release(context.Background()) })
	snapshot, err := locker.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return tree, lock, strings.TrimSuffix(snapshot.Holders[0].Owner.Short(), "…")
}

// A release of which the store's answer is missing may have happened: the log says who tried it and
// why, and the message that it is not known.
func TestAReleaseWithoutAnAnswerIsLogged(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	url := "redis://" + server.Addr + "/0"
	tree, _, holder := heldOn(t, url, "a rename")
	log := filepath.Join(t.TempDir(), "log.jsonl")
	c := onTerminal(t, 120, 30, "release", tree.String(), holder, "--locks", url, "--reason", "it hangs, see INC-3", "--log", log)
	c.await(`\[y/N\] $`)
	server.Pause()
	c.types("y\n")
	if code := c.exits(); code != 8 {
		t.Errorf("exit code %d", code)
	}
	c.await("may be released all the same: see pathlock ls " + tree.String())
	server.Resume()
	line, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^\{"type":"released-by-force",.*"reason":"it hangs, see INC-3",.*"unanswered":"releasing ` + holder + `: `).Match(line) {
		t.Errorf("the log has %q", line)
	}
}

// Whoever interrupts a look at a store that hangs does not wait for the store.
func TestAnInterruptedLookEndsAtOnce(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	server.Pause()
	for _, command := range []string{"ls", "doctor"} {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(200*time.Millisecond, cancel)
		code := cli.Main(ctx, []string{command, "--locks", "redis://" + server.Addr + "/0"}, strings.NewReader(""), io.Discard, io.Discard)
		if took := time.Since(began); code != 130 || took > 2*time.Second {
			t.Errorf("%s: exit code %d after %v", command, code, took)
		}
	}
}

// A terminal that understands no control sequences gets lines.
func TestWatchOnADumbTerminal(t *testing.T) {
	t.Parallel()
	url, tree, _, holder := held(t, "a rename")
	cmd := program(t, "watch", tree.String(), "--locks", url)
	cmd.Env = append(cmd.Env, "TERM=dumb")
	c := startOn(t, 80, 24, cmd)
	c.await(holder)
	if strings.Contains(c.said(), "\x1b") {
		t.Errorf("it gets %q", c.said())
	}
}

// A report that cannot be written is one line.
func TestAFullDiskIsSaidOnce(t *testing.T) {
	t.Parallel()
	url, tree, _, _ := held(t, "a rename")
	var claims []pathlock.Claim
	for i := range 200 { // more than a buffer
		claims = append(claims, pathlock.X(pathlock.MustParsePath(fmt.Sprintf("/another directory %d", i))))
	}
	lock, err := pathlock.New(mustOpen(t, url)).Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: claims})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release(context.Background()) })
	for _, args := range [][]string{{"ls", tree.String()}, {"ls", "--json", tree.String()}, {"doctor"}} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		var errs bytes.Buffer
		code := cli.Main(t.Context(), append(args, "--locks", url), strings.NewReader(""), full, &errs)
		_ = full.Close()
		if code != 8 || strings.Count(errs.String(), "no space left") != 1 || !strings.HasPrefix(errs.String(), "pathlock: write the report: ") {
			t.Errorf("%v: exit code %d: %s", args, code, errs.String())
		}
	}
}

// console is a program on a pseudo terminal.
type console struct {
	t    *testing.T
	cmd  *exec.Cmd
	file *os.File
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
	read chan struct{}
}

// onTerminal runs the program on a terminal of a size.
func onTerminal(t *testing.T, columns, rows uint16, args ...string) *console {
	t.Helper()
	return startOn(t, columns, rows, program(t, args...))
}

// startOn starts any program on a terminal of a size.
func startOn(t *testing.T, columns, rows uint16, cmd *exec.Cmd) *console {
	t.Helper()
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, cmd: cmd, file: file, more: make(chan struct{}, 1), read: make(chan struct{})}
	go func() {
		defer close(c.read)
		buffer := make([]byte, 4096)
		for {
			n, err := file.Read(buffer)
			c.mu.Lock()
			c.text.Write(buffer[:n])
			c.mu.Unlock()
			select {
			case c.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it may have been waited for
		_ = file.Close()
		<-c.read
	})
	return c
}

// said returns what the program has written so far.
func (c *console) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// await returns when the program has written something.
func (c *console) await(pattern string) {
	c.t.Helper()
	until := time.After(30 * time.Second)
	for wanted := regexp.MustCompile(pattern); !wanted.MatchString(c.said()); {
		select {
		case <-c.more:
		case <-until:
			c.t.Fatalf("the terminal shows %q, want %s", c.said(), pattern)
		}
	}
}

// types types a text.
func (c *console) types(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.file, text); err != nil {
		c.t.Fatal(err)
	}
}

// exits returns the exit code.
func (c *console) exits() int {
	_ = c.cmd.Wait() // the exit code says more
	<-c.read
	return c.cmd.ProcessState.ExitCode()
}

// On a terminal, a release shows what it takes away, asks, and does as it is told.
func TestReleaseAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer   string
		code     int
		released bool
	}{
		{"y\n", 0, true},
		{"YES\n", 0, true},
		{"n\n", 4, false},
		{"\n", 4, false},
		{"yesterday\n", 4, false},
		{"\x04", 4, false},   // Ctrl-D
		{"\x03", 130, false}, // Ctrl-C
	} {
		t.Run(fmt.Sprintf("%q", c.answer), func(t *testing.T) {
			t.Parallel()
			url, tree, lock, holder := held(t, "an edit")
			terminal := onTerminal(t, 200, 24, "release", tree.String(), holder, "--locks", url, "--reason", "it hangs")
			terminal.await(`Release all of this in ` + tree.String() + `\? \[y/N\] $`)
			if !regexp.MustCompile(holder + ` +holds X /dir1 .*"an edit"`).MatchString(terminal.said()) {
				t.Errorf("before it asks, it shows %q", terminal.said())
			}
			terminal.types(c.answer)
			if code := terminal.exits(); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, terminal.said())
			}
			if says := strings.Contains(terminal.said(), "released in "); says != c.released {
				t.Errorf("the terminal shows %q", terminal.said())
			}
			err := lock.Release(t.Context())
			if lost := err != nil; lost != c.released {
				t.Errorf("the holder's own release: %v", err)
			}
		})
	}
}

// On a terminal, watch draws the tree again and again, in the terminal's width, and gives the
// terminal back.
func TestWatchDraws(t *testing.T) {
	t.Parallel()
	url, tree, lock, holder := held(t, strings.Repeat("目录", 50))
	terminal := onTerminal(t, 100, 24, "watch", tree.String(), "--locks", url, "--interval", "100ms")
	terminal.await(holder + ` +X /dir1 `)
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	terminal.await(regexp.QuoteMeta(tree.String() + ": 0 hold, 0 wait"))
	terminal.types("\x03")
	if code := terminal.exits(); code != 0 {
		t.Errorf("exit code %d: %s", code, terminal.said())
	}
	said := terminal.said()
	if !strings.HasPrefix(said, "\x1b[?1049h") || !strings.Contains(said, "\x1b[?1049l") {
		t.Errorf("it does not give the terminal back: %q", said)
	}
	row := regexp.MustCompile(holder + `[^\x1b]*`).FindString(said)
	if !strings.HasSuffix(row, "…") {
		t.Errorf("the row is not cut: %q", row)
	}
	width := 0
	for _, r := range row {
		if width++; r >= 0x1100 && r != '…' {
			width++ // Chinese characters take two columns
		}
	}
	if width > 100 || width < 98 {
		t.Errorf("the row is %d columns wide on a terminal of 100: %q", width, row)
	}
}

// A tree that is longer than the terminal is cut, and says so.
func TestWatchFitsTheTerminal(t *testing.T) {
	t.Parallel()
	url, tree, lock, _ := held(t, "first")
	for i := range 20 {
		path := pathlock.MustParsePath(fmt.Sprintf("/other%d", i))
		more, err := pathlock.New(mustOpen(t, url)).Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(path)}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = more.Release(context.Background()) }()
	}
	terminal := onTerminal(t, 100, 10, "watch", tree.String(), "--locks", url)
	terminal.await(`… and \d+ more lines`)
	if n := strings.Count(terminal.said(), "\r\n"); n != 2+7 {
		t.Errorf("it draws %d lines on a terminal of 10", n)
	}
	_ = lock
}

func mustOpen(t *testing.T, url string) *anystore.Store {
	t.Helper()
	store, err := anystore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	return store
}
