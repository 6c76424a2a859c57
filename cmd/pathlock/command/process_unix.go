//go:build unix

package command

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// heeded returns the signals that end a wait, and that [pass] gets while a command runs.
func heeded() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
}

// ignoreStop has pathlock and its command ignore Ctrl-Z. It would stop nothing but the renewal of
// what is held and, of a shell that is just starting a program, the half that tells nobody.
func ignoreStop() { signal.Ignore(syscall.SIGTSTP) }

// setGroup has a command run in a process group of its own, and in the foreground of the terminal
// if pathlock is there: then signals also gets SIGCHLD. It always gets what the terminal stops a
// group in the background with: that must not stop pathlock, or the lease would end under the
// command. The caller calls giveBack when the command has ended.
func setGroup(cmd *exec.Cmd, signals chan<- os.Signal) (giveBack func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signal.Notify(signals, syscall.SIGTTIN, syscall.SIGTTOU)
	terminal := int(os.Stdin.Fd()) //nolint:gosec // a descriptor
	if group, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP); err != nil || group != syscall.Getpgrp() {
		return func() {}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, terminal
	signal.Notify(signals, syscall.SIGCHLD)
	return func() { bringForward(terminal, syscall.Getpgrp()) }
}

// exchange brings forward the command's group or pathlock's own, in place of the other, if the
// command was given the terminal. If a third group has it, such as a shell, that keeps it.
func exchange(cmd *exec.Cmd, group int) {
	if !cmd.SysProcAttr.Foreground {
		return
	}
	terminal := cmd.SysProcAttr.Ctty
	front, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP)
	others := front != cmd.Process.Pid && front != syscall.Getpgrp() && syscall.Kill(-front, 0) == nil
	if err == nil && !others {
		bringForward(terminal, group)
	}
}

// bringForward puts a process group in the foreground of a terminal, and continues it.
func bringForward(terminal, group int) {
	signal.Ignore(syscall.SIGTTOU) // which a process in the background gets for it
	_ = unix.IoctlSetPointerInt(terminal, unix.TIOCSPGRP, group)
	_ = syscall.Kill(-group, syscall.SIGCONT)
}

// pass passes a signal on to the command's group. But SIGCHLD may say that the command has stopped,
// and what stops a group in the background, that somebody of pathlock's own has: a pager behind a
// pipe, for example. Whoever it is gets the terminal from the other, and goes on. signals are those
// of [setGroup].
func pass(cmd *exec.Cmd, s os.Signal, signals chan<- os.Signal) {
	switch s {
	case syscall.SIGCHLD:
		exchange(cmd, cmd.Process.Pid)
	case syscall.SIGTTIN, syscall.SIGTTOU:
		exchange(cmd, syscall.Getpgrp())
	default:
		send(cmd, s)
		send(cmd, syscall.SIGCONT) // a stopped command would not get the signal
		return
	}
	signal.Notify(signals, syscall.SIGTTOU) // which exchange ignores
}

func terminate(cmd *exec.Cmd) { pass(cmd, syscall.SIGTERM, nil) }

func kill(cmd *exec.Cmd) { send(cmd, syscall.SIGKILL) }

// send sends a signal to a command's group. Who has ended gets none.
func send(cmd *exec.Cmd, s os.Signal) {
	number, _ := s.(syscall.Signal)
	_ = syscall.Kill(-cmd.Process.Pid, number)
}

// groupLives reports whether somebody is left in a command's group.
func groupLives(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
