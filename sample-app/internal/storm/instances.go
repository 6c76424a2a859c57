package storm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/lockstore"
	"github.com/pathlock-go/pathlock/sample-app/internal/server"
)

// memoryLocks is the lock store that only one process sees.
const memoryLocks = "memory://"

// cluster is the running instances of a row.
type cluster []running

// running is one running instance.
type running struct {
	addr string
	stop func() error
}

// start starts the instances of a row.
func start(ctx context.Context, config Config, p protection, each instance.Config) (cluster, error) {
	each.Locks, each.LocksPassword = config.locks(each.DB), config.LocksPassword
	each.Assert, each.Think, each.Log = p.assert, config.Think, config.Log
	if !p.locks {
		each.Locks, each.LocksPassword = "off://", ""
	}
	begin := startChild
	if config.Locks == memoryLocks {
		store, err := lockstore.Open(ctx, each.Locks, each.LocksPassword)
		if err != nil {
			return nil, err
		}
		begin = func(ctx context.Context, _ Config, each instance.Config) (running, error) {
			return startHere(ctx, each, store)
		}
	}
	var c cluster
	for range config.Instances {
		one, err := begin(ctx, config, each)
		if err != nil {
			return nil, errors.Join(err, c.stop())
		}
		c = append(c, one)
	}
	return c, nil
}

// addrs returns the addresses of the instances.
func (c cluster) addrs() []string {
	addrs := make([]string, len(c))
	for i := range c {
		addrs[i] = c[i].addr
	}
	return addrs
}

// stop stops all instances at once, and waits until they have ended.
func (c cluster) stop() error {
	errs := make([]error, len(c))
	var wg sync.WaitGroup
	for i := range c {
		wg.Go(func() { errs[i] = c[i].stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startHere starts an instance in this process, on a lock store that all instances share.
func startHere(ctx context.Context, config instance.Config, store *lockstore.Store) (running, error) {
	i, err := instance.OpenWith(ctx, config, store)
	if err != nil {
		return running{}, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return running{}, errors.Join(err, i.Close())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, listener, server.Config{
			Handler: i.Handler, Log: config.Log, Draining: i.Drain, Stop: []func(){i.Feed.Stop, i.Admin.Close},
		})
	}()
	return running{addr: listener.Addr().String(), stop: func() error {
		cancel()
		return errors.Join(<-ended, i.Close())
	}}, nil
}

// stopTimeout is how long a child may drain before it is killed.
const stopTimeout = server.DrainTimeout + instance.ReleaseTimeout + 5*time.Second

// startChild starts an instance as a process of its own.
func startChild(ctx context.Context, config Config, ic instance.Config) (running, error) {
	// Only stop ends it, so that it drains. The end of ctx would kill it.
	cmd := config.Serve(context.WithoutCancel(ctx), "serve", "--addr", "127.0.0.1:0",
		"--namespace", ic.Namespace, fmt.Sprintf("--assert=%t", ic.Assert), "--think", ic.Think.String())
	// Everybody on the machine can read the command line of a process. Only its owner can read its
	// environment.
	cmd.Env = append(cmd.Environ(), "PATHLOCK_DB="+ic.DB, "PATHLOCK_LOCKS="+ic.Locks, "PATHLOCK_LOCKS_PASSWORD="+ic.LocksPassword)
	var errs lastWords
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return running{}, fmt.Errorf("start an instance: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return running{}, fmt.Errorf("start an instance: %w", err)
	}
	lines := bufio.NewReader(out)
	first, _ := lines.ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(first), server.Listening)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	stop := func() error { return stopChild(cmd, drained, &errs) }
	if !ok {
		return running{}, errors.Join(errors.New("an instance did not say where it listens"), stop())
	}
	return running{addr: addr, stop: stop}, nil
}

// stopChild asks a child to drain, waits until it has ended, and returns why it failed.
func stopChild(cmd *exec.Cmd, drained <-chan struct{}, errs *lastWords) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = cmd.Process.Kill() // a system without SIGTERM
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	<-drained
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("instance %d: %w: %s", cmd.Process.Pid, err, errs)
	}
	return nil
}

// lastWords keeps the last 2000 bytes that a process writes.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer].
func (w *lastWords) Write(p []byte) (int, error) {
	const most = 2000
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-most):]
	return len(p), nil
}

// String returns what it has kept.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.text))
}
