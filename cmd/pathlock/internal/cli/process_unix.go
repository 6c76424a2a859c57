//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// heeded are the signals that [pass] gets, and Ctrl-Z, which stops no wait.
func heeded() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCHLD}
}

// endsWait reports whether a signal ends pathlock before the command runs.
func endsWait(s os.Signal) bool { return s != syscall.SIGTSTP && s != syscall.SIGCHLD }

// setGroup has a command run in a process group of its own, and in the foreground of the terminal
// if pathlock is there. It and the command ignore Ctrl-Z: of a shell that is just starting a
// program, it would stop the half that tells nobody. The caller calls giveBack when the command has
// ended.
func setGroup(cmd *exec.Cmd) (giveBack func()) {
	signal.Ignore(syscall.SIGTSTP)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	terminal := int(os.Stdin.Fd()) //nolint:gosec // a descriptor
	if group, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP); err != nil || group != syscall.Getpgrp() {
		return func() {}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, terminal
	return func() {
		signal.Ignore(syscall.SIGTTOU) // which a process in the background gets for it
		_ = unix.IoctlSetPointerInt(terminal, unix.TIOCSPGRP, syscall.Getpgrp())
	}
}

// pass passes a signal on to the command's group, which a stopped command would not get. It returns
// a warning if the command has stopped.
func pass(cmd *exec.Cmd, s os.Signal) (warning string) {
	if s != syscall.SIGCHLD {
		send(cmd, s)
		send(cmd, syscall.SIGCONT)
		return ""
	}
	reap(cmd)
	if state, _ := stat(fmt.Sprint("/proc/", cmd.Process.Pid)); state != "T" {
		return ""
	}
	if cmd.SysProcAttr.Foreground {
		send(cmd, syscall.SIGCONT)
		return "the command was stopped, and goes on: others wait for its lock"
	}
	return fmt.Sprintf("the command is stopped, and its lock stays held: kill -CONT -%d continues it", cmd.Process.Pid)
}

// reap collects what others have left behind, as the first process of a container has to.
func reap(cmd *exec.Cmd) {
	if os.Getpid() != 1 {
		return
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		var pid int
		_, _ = fmt.Sscan(filepath.Base(process), &pid)
		if state, parent := stat(process); state == "Z" && parent == 1 && pid != cmd.Process.Pid {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// stat returns a process' state and its parent, where there is a /proc.
func stat(process string) (state string, parent int) {
	text, _ := os.ReadFile(filepath.Join(process, "stat"))
	_, _ = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent)
	return state, parent
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
