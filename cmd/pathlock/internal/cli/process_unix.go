//go:build unix

package cli

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
// if pathlock is there: then signals also gets SIGCHLD. The caller calls giveBack when the command
// has ended.
func setGroup(cmd *exec.Cmd, signals chan<- os.Signal) (giveBack func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	terminal := int(os.Stdin.Fd()) //nolint:gosec // a descriptor
	if group, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP); err != nil || group != syscall.Getpgrp() {
		return func() {}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, terminal
	signal.Notify(signals, syscall.SIGCHLD)
	return func() {
		signal.Ignore(syscall.SIGTTOU) // which a process in the background gets for it
		_ = unix.IoctlSetPointerInt(terminal, unix.TIOCSPGRP, syscall.Getpgrp())
	}
}

// pass passes a signal on to the command's group, and continues it: a stopped command would not get
// the signal. After SIGCHLD, it may have stopped itself, and then nobody could use the terminal.
func pass(cmd *exec.Cmd, s os.Signal) {
	if s != syscall.SIGCHLD {
		send(cmd, s)
	}
	send(cmd, syscall.SIGCONT)
}

func terminate(cmd *exec.Cmd) { pass(cmd, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { send(cmd, syscall.SIGKILL) }

// send sends a signal to a command's group. Who has ended gets none.
func send(cmd *exec.Cmd, s os.Signal) {
	number, _ := s.(syscall.Signal)
	_ = syscall.Kill(-cmd.Process.Pid, number)
}

// groupLives reports whether somebody is left in a command's group.
func groupLives(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
