package storm

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
)

// stopTimeout is how long an instance may drain before it is killed.
const stopTimeout = instance.DrainTimeout + instance.ReleaseTimeout + 5*time.Second

// instances are the instances of a row, each a process of its own.
type instances struct {
	commands []*exec.Cmd
	addrs    []string
	// drain asks all of them to end.
	drain context.CancelFunc
}

// start starts the instances of a row on a database, and waits until they serve.
func start(ctx context.Context, config Config, p protection, db, namespace string) (*instances, error) {
	// Everybody on the machine can read the command line of a process. Only its owner can read its
	// environment.
	env := []string{"PATHLOCK_DB=" + db, "PATHLOCK_LOCKS=off://", "PATHLOCK_LOCKS_PASSWORD="}
	if p.locks {
		env = []string{"PATHLOCK_DB=" + db, "PATHLOCK_LOCKS=" + cmp.Or(config.Locks, db), "PATHLOCK_LOCKS_PASSWORD=" + config.LocksPassword}
	}
	// Only drain ends them: the end of ctx is no reason to cut requests off.
	ctx, drain := context.WithCancel(context.WithoutCancel(ctx))
	all := &instances{drain: drain}
	for range config.Instances {
		cmd := config.Serve(ctx, "serve", "--addr", "127.0.0.1:0", "--namespace", namespace, fmt.Sprintf("--assert=%t", p.assert))
		cmd.Env = append(cmd.Environ(), env...)
		cmd.Stderr = os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = stopTimeout
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start an instance: %w", err), all.stop())
		}
		all.commands = append(all.commands, cmd)
		first, _ := bufio.NewReader(out).ReadString('\n')
		addr, ok := strings.CutPrefix(strings.TrimSpace(first), instance.Listening)
		if !ok {
			return nil, errors.Join(errors.New("an instance did not say where it listens"), all.stop())
		}
		all.addrs = append(all.addrs, addr)
	}
	return all, nil
}

// stop has all instances drain, waits until they have ended, and returns why any has failed.
func (i *instances) stop() error {
	i.drain()
	var errs []error
	for _, cmd := range i.commands {
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, fmt.Errorf("instance %d: %w", cmd.Process.Pid, err))
		}
	}
	return errors.Join(errs...)
}
