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

// ignoreStop makes pathlock and its command ignore Ctrl-Z. It would stop the renewal of what is
// held. If the command is a shell, it could also stop a child that has yet to become the program
// that it starts, and the shell would wait for it unaware.
func ignoreStop() { signal.Ignore(syscall.SIGTSTP) }

// setGroup makes a command run in a process group of its own, and in the foreground of the terminal
// if pathlock is there: then signals also gets SIGCHLD. It always gets the signals with which a
// terminal stops groups in the background: these must not stop pathlock, or the lease would end
// under the command. The caller calls giveBack when the command has ended.
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

// exchange gives the terminal to the given group, the command's or pathlock's own, if the command
// has been given it. A third group that has the terminal, such as a shell's, keeps it.
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

// pass passes a signal on to the command's group. Three signals are for pathlock instead. SIGCHLD
// may say that the command has stopped. SIGTTIN and SIGTTOU say that a process in pathlock's own
// group wants the terminal, such as a pager at the end of a pipe. The group in need gets the
// terminal, and continues. signals are those of [setGroup].
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

// send sends a signal to those in a command's group that still live.
func send(cmd *exec.Cmd, s os.Signal) {
	number, _ := s.(syscall.Signal)
	_ = syscall.Kill(-cmd.Process.Pid, number)
}

// groupLives reports whether somebody is left in a command's group.
func groupLives(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
