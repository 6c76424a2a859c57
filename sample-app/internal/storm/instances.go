package storm

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/server"
)

// cluster is the running instances of a row.
type cluster []running

// running is one running instance.
type running struct {
	addr string
	stop func() error
}

// start starts the instances of a row on a database, each as a process of its own.
func start(ctx context.Context, config Config, p protection, db, namespace string) (cluster, error) {
	// Everybody on the machine can read the command line of a process. Only its owner can read its
	// environment.
	env := []string{"PATHLOCK_DB=" + db, "PATHLOCK_LOCKS=" + cmp.Or(config.Locks, db), "PATHLOCK_LOCKS_PASSWORD=" + config.LocksPassword}
	if !p.locks {
		env = []string{"PATHLOCK_DB=" + db, "PATHLOCK_LOCKS=off://", "PATHLOCK_LOCKS_PASSWORD="}
	}
	var c cluster
	for range config.Instances {
		// Only stop ends it, so that it drains. The end of ctx would kill it.
		cmd := config.Serve(context.WithoutCancel(ctx), "serve", "--addr", "127.0.0.1:0", "--namespace", namespace, fmt.Sprintf("--assert=%t", p.assert))
		cmd.Env = append(cmd.Environ(), env...)
		one, err := startChild(cmd)
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

// stopTimeout is how long a child may drain before it is killed.
const stopTimeout = server.DrainTimeout + instance.ReleaseTimeout + 5*time.Second

// startChild starts an instance, and waits until it serves.
func startChild(cmd *exec.Cmd) (running, error) {
	cmd.Stderr = os.Stderr
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
	stop := func() error { return stopChild(cmd, drained) }
	if !ok {
		return running{}, errors.Join(errors.New("an instance did not say where it listens"), stop())
	}
	return running{addr: addr, stop: stop}, nil
}

// stopChild asks a child to drain, waits until it has ended, and returns why it failed.
func stopChild(cmd *exec.Cmd, drained <-chan struct{}) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = cmd.Process.Kill() // a system without SIGTERM
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	<-drained
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("instance %d: %w", cmd.Process.Pid, err)
	}
	return nil
}
