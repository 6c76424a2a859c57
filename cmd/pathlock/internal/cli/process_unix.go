//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// heeded returns the signals that [pass] gets. In a group of its own, the command would run on when
// Ctrl-Z stopped pathlock and thereby its renewals: Ctrl-Z does nothing there.
func heeded(foreground bool) []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}
	if !foreground {
		all = append(all, syscall.SIGTSTP)
	}
	return all
}

// endsWait reports whether a signal ends pathlock before the command runs.
func endsWait(s os.Signal) bool { return s != syscall.SIGTSTP }

// setGroup has a command run in a process group of its own.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// pass passes a signal on. In the foreground, the terminal has sent its own to the command, too.
func pass(cmd *exec.Cmd, s os.Signal, foreground bool) {
	if s == syscall.SIGTSTP || foreground && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
		return
	}
	send(cmd, s, foreground)
}

func terminate(cmd *exec.Cmd, foreground bool) { send(cmd, syscall.SIGTERM, foreground) }

func kill(cmd *exec.Cmd, foreground bool) { send(cmd, syscall.SIGKILL, foreground) }

// send sends a signal to a command, and to its group if that is its own. Who has ended gets none.
func send(cmd *exec.Cmd, s os.Signal, foreground bool) {
	if foreground {
		_ = cmd.Process.Signal(s)
		return
	}
	number, _ := s.(syscall.Signal)
	_ = syscall.Kill(-cmd.Process.Pid, number)
}

// groupLives reports whether somebody is left in a command's group.
func groupLives(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
