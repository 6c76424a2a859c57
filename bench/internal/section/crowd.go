package section

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/contender"
)

// waitersTimeout bounds how long many processes on few cores may take until all of them wait, and
// until all have had the lock.
const waitersTimeout = 30 * time.Second

// The environment variables of a waiting process, which say where the locks are.
const (
	waiterURL    = "PATHLOCK_BENCH_WAITER_URL"
	waiterPrefix = "PATHLOCK_BENCH_WAITER_PREFIX"
)

// ready is the first line of a waiting process.
const ready = "ready"

// IsWaiter reports whether this process is a waiting process.
func IsWaiter() bool { return os.Getenv(waiterURL) != "" }

// ServeWaiter is the main function of a waiting process. Each line of in is the number of a
// contender in [drainNames]. For each line, it waits for that contender's lock, releases it, and
// answers with the time of the release in nanoseconds since 1970. It returns at the end of in.
func ServeWaiter(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	at := contender.Server{URL: os.Getenv(waiterURL), Prefix: os.Getenv(waiterPrefix)}
	var waiters []contender.Waiter
	for _, c := range contender.Only(contender.Redis(), drainNames()...) {
		locks, openErr := c.Open(ctx, at)
		if openErr != nil {
			return fmt.Errorf("opening %s: %w", c.Name, openErr)
		}
		defer func() { err = errors.Join(err, locks.Close()) }()
		lock, lockErr := locks.Lock(drainTree, leafAt(contendedDepth, "case-1"))
		if lockErr != nil {
			return fmt.Errorf("%s: %w", c.Name, lockErr)
		}
		waiter, ok := lock.(contender.Waiter)
		if !ok {
			return fmt.Errorf("%s cannot wait", c.Name)
		}
		waiters = append(waiters, waiter)
	}
	if _, err := fmt.Fprintln(out, ready); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		i, err := strconv.Atoi(lines.Text())
		if err != nil || i < 0 || i >= len(waiters) {
			return fmt.Errorf("%q is not the number of a contender", lines.Text())
		}
		if err := waiters[i].Wait(ctx); err != nil {
			return fmt.Errorf("waiting: %w", err)
		}
		if err := waiters[i].Release(ctx); err != nil {
			return fmt.Errorf("releasing: %w", err)
		}
		if _, err := fmt.Fprintln(out, time.Now().UnixNano()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// crowd is a number of waiting processes.
type crowd struct {
	members []*member
	// kill ends all of them at once.
	kill context.CancelFunc
}

// member is one of them.
type member struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startCrowd starts n processes, and returns when all are ready. Stop the crowd, even after an
// error. The end of ctx kills the processes.
func startCrowd(ctx context.Context, program string, at contender.Server, n int) (*crowd, error) {
	ctx, kill := context.WithCancel(ctx)
	c := &crowd{kill: kill}
	for range n {
		cmd := exec.CommandContext(ctx, program)
		// Each gets one thread of Go, because there are far more processes than CPUs.
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", waiterURL+"="+at.URL, waiterPrefix+"="+at.Prefix)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return c, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return c, err
		}
		if err := cmd.Start(); err != nil {
			return c, fmt.Errorf("starting a process that waits: %w", err)
		}
		c.members = append(c.members, &member{cmd, in, bufio.NewReader(out)})
	}
	for _, m := range c.members {
		line, err := m.line()
		if err != nil {
			return c, fmt.Errorf("a process that should wait does not come up: %w", err)
		}
		if line != ready {
			return c, fmt.Errorf("a process that should wait says %q", line)
		}
	}
	return c, nil
}

// send makes all processes wait for the lock of a contender.
func (c *crowd) send(contender int) error {
	for _, m := range c.members {
		if _, err := fmt.Fprintln(m.in, contender); err != nil {
			return fmt.Errorf("telling a process to wait: %w", err)
		}
	}
	return nil
}

// receive waits until all have had the lock, and returns the time of the last release. If that
// takes too long, it kills all processes, and the error says that one of them has ended.
func (c *crowd) receive() (time.Time, error) {
	patience := time.AfterFunc(waitersTimeout, c.kill)
	defer patience.Stop()
	var last int64
	for _, m := range c.members {
		line, err := m.line()
		if err != nil {
			return time.Time{}, fmt.Errorf("a process that waited, for up to %v, has not had the lock: %w", waitersTimeout, err)
		}
		at, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("a process that waited says %q: %w", line, err)
		}
		last = max(last, at)
	}
	return time.Unix(0, last), nil
}

// stop ends all processes.
func (c *crowd) stop() error {
	defer c.kill()
	var errs []error
	for _, m := range c.members {
		_ = m.in.Close() // which is how it learns that it is to end; it may have ended already
	}
	for _, m := range c.members {
		if err := m.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("a process that waited: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (m *member) line() (string, error) {
	line, err := m.out.ReadString('\n')
	return strings.TrimSpace(line), err
}
