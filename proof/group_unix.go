//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command run in a process group of its own, which ends as a whole: when the
// command's context does, and when end is called, after the command. A test that does not end
// leaves its children behind.
func ownGroup(cmd *exec.Cmd) (end func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end = func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	cmd.Cancel = func() error { end(); return nil }
	return end
}
