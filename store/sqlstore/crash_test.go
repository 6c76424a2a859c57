package sqlstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// The environment of a child, which is this program again.
const (
	childRole = "PATHLOCK_SQLSTORE_CHILD"
	childURL  = "PATHLOCK_SQLSTORE_URL"
	childTree = "PATHLOCK_SQLSTORE_TREE"
	childFile = "PATHLOCK_SQLSTORE_FILE"
)

// lifetime is the lease of a child.
const lifetime = 1500 * time.Millisecond

// rounds is how often each child counts.
const rounds = 25

// child does what a role says. It says what it has done, a line each, and goes on at each line that
// it is told.
func child(role string) error {
	s, err := sqlopen.Open(os.Getenv(childURL))
	if err != nil {
		return err
	}
	tree, err := pathlock.NewTree("sqlstore", os.Getenv(childTree))
	if err != nil {
		return err
	}
	ctx, told := context.Background(), bufio.NewReader(os.Stdin)
	next := func() { _, _ = told.ReadString('\n') }
	req := ask(tree, x("/a"))
	switch role {
	case "hold", "wait":
		req.Lease, req.Wait = lifetime, long
		req.Waiting = func() { fmt.Println("waits") }
		if _, err := s.Acquire(ctx, req); err != nil {
			return err
		}
		fmt.Println("holds")
		next()
		fmt.Println("released:", s.Release(ctx, tree, req.Owner, req.Grant))
		next()
	case "count":
		for range rounds {
			req := ask(tree, x("/a"))
			req.Wait = long
			if _, err := s.Acquire(ctx, req); err != nil {
				return err
			}
			if err := count(os.Getenv(childFile)); err != nil {
				return err
			}
			if err := s.Release(ctx, tree, req.Owner, req.Grant); err != nil {
				return err
			}
		}
		fmt.Println("counted")
	}
	return s.Close()
}

// count adds one to the number in a file, which others must not do meanwhile.
func count(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600)
}

// process is a child that runs.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	says  *bufio.Reader
	tells *bufio.Writer
}

// start starts a child.
func start(t *testing.T, role string, d database, tree pathlock.Tree, file string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0]) //nolint:noctx // The end of the test kills it.
	cmd.Env = append(os.Environ(), childRole+"="+role, childURL+"="+d.url, childTree+"="+tree.ID(), childFile+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &process{t, cmd, bufio.NewReader(out), bufio.NewWriter(in)}
}

// said requires that the child says something.
func (p *process) said(want string) {
	p.t.Helper()
	line, err := p.says.ReadString('\n')
	if !strings.HasPrefix(line, want) {
		p.t.Fatalf("the child says %q, %v; want %q", line, err, want)
	}
}

func (p *process) tell() {
	p.t.Helper()
	if _, err := p.tells.WriteString("\n"); err != nil {
		p.t.Fatal(err)
	}
	if err := p.tells.Flush(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// within requires that a wait ends with a grant in the time from a moment on.
func (p *pending) within(d time.Duration, from time.Time) {
	p.t.Helper()
	p.granted()
	if took := time.Since(from); took > d {
		p.t.Errorf("granted after %v, want at most %v", took, d)
	}
}

const slack = 5 * time.Second

func TestKilledHolder(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Parallel()
		s, tree := d.store(t), newTree(t)
		p := start(t, "hold", d, tree, "")
		p.said("holds")
		w := queue(t, s, ask(tree, x("/a")))
		p.signal(syscall.SIGKILL)
		w.within(lifetime+slack, time.Now())
		release(t, s, w.req)
		left(t, s, tree)
	})
}

func TestKilledWaiter(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Parallel()
		s, tree := d.store(t), newTree(t)
		held := ask(tree, x("/a"))
		take(t, s, held)
		p := start(t, "wait", d, tree, "")
		p.said("waits")
		w := queue(t, s, ask(tree, x("/a")))
		p.signal(syscall.SIGKILL)
		died := time.Now()
		release(t, s, held)
		w.within(lifetime+slack, died)
		release(t, s, w.req)
		left(t, s, tree)
	})
}

// A process that is stopped loses its lock when its lease ends, and learns that when it goes on.
func TestStoppedHolder(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Parallel()
		s, tree := d.store(t), newTree(t)
		p := start(t, "hold", d, tree, "")
		p.said("holds")
		w := queue(t, s, ask(tree, x("/a")))
		p.signal(syscall.SIGSTOP)
		w.within(lifetime+slack, time.Now())
		p.signal(syscall.SIGCONT)
		p.tell()
		p.said("released: pathlock: not held")
		release(t, s, w.req)
		left(t, s, tree)
	})
}

// Many processes use one file, or one server.
func TestManyProcesses(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Parallel()
		s, tree := d.store(t), newTree(t)
		file := filepath.Join(t.TempDir(), "count")
		if err := os.WriteFile(file, []byte("0"), 0o600); err != nil {
			t.Fatal(err)
		}
		const processes = 4
		var all []*process
		for range processes {
			all = append(all, start(t, "count", d, tree, file))
		}
		for _, p := range all {
			p.said("counted")
			if err := p.cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		text, err := os.ReadFile(file)
		if want := strconv.Itoa(processes * rounds); err != nil || string(text) != want {
			t.Errorf("counted %s, %v; want %s", text, err, want)
		}
		left(t, s, tree)
	})
}

// left requires that nobody holds or waits in a tree, and that it has no ticket.
func left(t *testing.T, s *sqlstore.Store, tree pathlock.Tree) {
	t.Helper()
	state, err := s.Backend().View(context.WithoutCancel(t.Context()), tree)
	if err != nil || len(state.Tickets) > 0 {
		t.Errorf("left behind: %v, %v", state.Tickets, errors.Join(err))
	}
}
