package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pathlock-go/pathlock"
)

// underLock has the flags of the commands that run another command while they hold something.
type underLock struct {
	lockStore
	Lease time.Duration `help:"How long the lock stays if this process is killed (default: 30s)." default:"30s" placeholder:"DURATION"`
	Grace time.Duration `help:"Time from SIGTERM to SIGKILL if the lock is lost; at most half of --lease (default: 5s)." default:"5s" placeholder:"DURATION"`
}

// underLockHelp is the common part of these commands' help.
func underLockHelp(what string) string {
	return what + ` is lost when somebody releases it by force, when the lock store forgets it, or when its lease cannot be renewed until
--grace before its end. Then the command's process group gets SIGTERM, and SIGKILL after --grace, so that it ends before the lease does. If
pathlock itself is killed, the command runs on, and the lease ends.

The command has the standard streams of pathlock and, if pathlock is in the foreground of a terminal, that terminal: it can read, and gets
Ctrl-C. Ctrl-Z stops nothing while a lock is held. pathlock passes on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2, and continues a command
that is stopped with them. Its environment has PATHLOCK_NAME and PATHLOCK_FENCE, a number that grows with every holder: where the
command writes, refuse smaller numbers.`
}

// heldLock is a lock or a leadership.
type heldLock struct {
	ctx     context.Context  // ends when it is lost
	over    <-chan time.Time // when the command has run for long enough; nil for never
	fence   uint64
	until   func() time.Time
	release func(context.Context) error
}

// noteOf is the note of a lock under which a command runs. Arguments may be secret.
func noteOf(command []string) string {
	if len(command) == 0 {
		return ""
	}
	return strings.ToValidUTF8(filepath.Base(command[0]), "?") + " by " + whoAmI()
}

// run runs a command while it holds what acquire acquires, and returns the exit code. The command
// has to be all that args, the command line, has after --: without a name before it, its first
// word would be the name.
func (u *underLock) run(ctx context.Context, out *output, args []string, name string, command []string, acquire func(context.Context, *pathlock.Locker) (heldLock, error)) (int, error) {
	var after []string
	if dashes := slices.Index(args, "--"); dashes >= 0 {
		after = args[dashes+1:]
	}
	switch {
	case len(after) == 0:
		return exitUsage, fmt.Errorf("%w: no command: give it after --", errUsage)
	case !slices.Equal(command, after):
		return exitUsage, fmt.Errorf("%w: name the lock before --, and give nothing but the command after it", errUsage)
	case u.Grace < 0, u.Grace > u.Lease/2:
		return exitUsage, fmt.Errorf("%w: --grace must be from 0 to half of --lease, and is %v with a lease of %v", errUsage, u.Grace, u.Lease)
	}
	// The hold ends with the command, not with ctx.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	cmd := exec.CommandContext(own, command[0], command[1:]...)
	if cmd.Err != nil {
		return codeOfStart(cmd.Err), cmd.Err
	}
	ignoreStop()
	signals := make(chan os.Signal, 8)
	for _, s := range heeded() {
		if !signal.Ignored(s) { // what nohup has pathlock ignore, the command ignores, too
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	locker, end, err := u.open(ctx, false)
	if err != nil {
		return codeWithoutLock(err), err
	}
	defer end()
	var h heldLock
	acquired := make(chan error, 1)
	go func() {
		var err error
		h, err = acquire(own, locker)
		acquired <- err
	}()
	select {
	case err = <-acquired:
	case s := <-signals:
		cancel()
		if err := <-acquired; err == nil {
			_ = h.release(ctx)
		}
		return codeOfSignal(s), fmt.Errorf("interrupted before the command: %v", s)
	}
	if err != nil {
		return codeWithoutLock(err), failed("waiting for "+name, err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out.out, out.errs
	cmd.Env = append(os.Environ(), "PATHLOCK_NAME="+name, "PATHLOCK_FENCE="+strconv.FormatUint(h.fence, 10))
	return u.runHeld(own, cmd, h, signals)
}

// runHeld runs the command, releases what is held, and returns the exit code.
func (u *underLock) runHeld(ctx context.Context, cmd *exec.Cmd, h heldLock, signals chan os.Signal) (int, error) {
	giveBack := setGroup(cmd, signals)
	defer giveBack()
	if err := cmd.Start(); err != nil {
		return codeOfStart(err), errors.Join(err, h.release(ctx))
	}
	err := u.watch(cmd, h, signals)
	released := h.release(ctx)
	switch {
	case err != nil:
		return exitLost, err
	case errors.Is(released, pathlock.ErrLost):
		return exitLost, fmt.Errorf("while the command ran: %w", released)
	case released != nil:
		return codeOfState(cmd.ProcessState), failed("releasing it failed, and it stays held until its lease ends", released)
	default:
		return codeOfState(cmd.ProcessState), nil
	}
}

// watch waits for the end of the command, and passes signals on. It ends the command, and returns
// the reason, if the lock is lost or about to be, or if the command has run for long enough.
func (u *underLock) watch(cmd *exec.Cmd, h heldLock, signals chan os.Signal) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its state says the same
	}()
	// A renewal in time moves the end of the lease before this timer looks at it.
	late := time.NewTimer(time.Until(h.until()) - u.Grace)
	defer late.Stop()
	for {
		select {
		case <-ended:
			return nil
		case s := <-signals:
			pass(cmd, s, signals)
		case <-h.ctx.Done():
			u.end(cmd, ended)
			return fmt.Errorf("the command was ended: %w", context.Cause(h.ctx))
		case <-h.over:
			u.end(cmd, ended)
			return fmt.Errorf("the command was ended: %w", pathlock.ErrHeldTooLong)
		case <-late.C:
			left := time.Until(h.until()) - u.Grace
			if left <= 0 {
				u.end(cmd, ended)
				return fmt.Errorf("the command was ended: %w: the lock store did not renew it in time", pathlock.ErrLost)
			}
			late.Reset(left)
		}
	}
}

// end ends the command and its process group.
func (u *underLock) end(cmd *exec.Cmd, ended <-chan struct{}) {
	terminate(cmd)
	for until := time.Now().Add(u.Grace); groupLives(cmd) && time.Now().Before(until); {
		time.Sleep(groupInterval)
	}
	kill(cmd)
	<-ended
}

// groupInterval is how often to look whether a process group has ended, which the system does not
// announce.
const groupInterval = 20 * time.Millisecond

// codeWithoutLock returns the exit code for an error before the command runs.
func codeWithoutLock(err error) int {
	switch {
	case errors.Is(err, errUsage), errors.Is(err, pathlock.ErrInvalidRequest), errors.Is(err, pathlock.ErrInvalidTree), errors.Is(err, pathlock.ErrInvalidPath):
		return exitUsage
	case errors.Is(err, pathlock.ErrConflict):
		return exitNotGranted
	case errors.Is(err, pathlock.ErrLost):
		return exitLost
	default:
		return exitNotRun
	}
}

// codeOfStart returns the exit code for a command that does not start.
func codeOfStart(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitNoProgram
}

// codeOfState returns the exit code of a command that has ended, as a shell reports it.
func codeOfState(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signal() > 0 { // -1 without one
		return codeOfSignal(status.Signal())
	}
	return state.ExitCode()
}

func codeOfSignal(s os.Signal) int {
	number, _ := s.(syscall.Signal)
	return exitSignal + int(number)
}
