package cli

import (
	"os"
	"os/exec"
)

// heeded returns the signals that do not end pathlock: the console sends them to the command, too.
func heeded(bool) []os.Signal { return []os.Signal{os.Interrupt} }

func endsWait(os.Signal) bool { return true }

func setGroup(*exec.Cmd) {}

func pass(*exec.Cmd, os.Signal, bool) {}

// terminate kills, as nothing else ends a program on Windows.
func terminate(cmd *exec.Cmd, foreground bool) { kill(cmd, foreground) }

func kill(cmd *exec.Cmd, _ bool) { _ = cmd.Process.Kill() }

func groupLives(*exec.Cmd) bool { return false }
