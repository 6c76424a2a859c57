package command

import (
	"os"
	"os/exec"
)

// heeded returns the signals that do not end pathlock: the console sends them to the command, too.
func heeded() []os.Signal { return []os.Signal{os.Interrupt} }

func ignoreStop() {}

func setGroup(*exec.Cmd, chan<- os.Signal) (giveBack func()) { return func() {} }

func pass(*exec.Cmd, os.Signal, chan<- os.Signal) {}

// terminate kills, as nothing else ends a program on Windows.
func terminate(cmd *exec.Cmd) { kill(cmd) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func groupLives(*exec.Cmd) bool { return false }
