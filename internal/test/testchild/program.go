package testchild

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Program is a server's program, which runs, ends and runs again.
type Program struct {
	t       testing.TB
	log     string
	command []string
	process *exec.Cmd // nil while it does not run
	paused  bool
}

// NewProgram returns a program that Start starts. It is killed at the end of the test, by its
// process id. If the test has failed, it shows what the program has written at last, to a file in a
// folder.
func NewProgram(t testing.TB, dir string, command ...string) *Program {
	p := &Program{t: t, log: filepath.Join(dir, "log"), command: command}
	t.Cleanup(p.cleanUp)
	return p
}

// Start starts the program.
func (p *Program) Start() {
	p.t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	testerr.Must(p.t, err)
	defer func() { _ = log.Close() }()
	p.process = exec.CommandContext(context.Background(), p.command[0], p.command[1:]...) // until it is killed
	p.process.Stdout, p.process.Stderr = log, log
	if err := p.process.Start(); err != nil {
		p.t.Fatalf("starting %s: %v", p.command[0], err)
	}
}

// Runs reports whether the program runs, and is not paused.
func (p *Program) Runs() bool { return p.process != nil && !p.paused }

// Kill ends the program as a crash does.
func (p *Program) Kill() {
	if p.process == nil {
		return
	}
	p.signal(syscall.SIGKILL)
	_ = p.process.Wait() // it was ended by a signal: that is the error
	p.process, p.paused = nil, false
}

// Pause stops the process from running (SIGSTOP): it keeps its connections and answers nothing
// until Resume.
func (p *Program) Pause() {
	p.signal(syscall.SIGSTOP)
	p.paused = true
	// The signal reaches one thread after the other.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.process.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		p.t.Errorf("pausing %s: %v, status %v", p.command[0], err, status)
	}
}

// Resume lets a paused process run on. It does nothing if the process was not paused.
func (p *Program) Resume() {
	if p.paused {
		p.signal(syscall.SIGCONT)
		p.paused = false
	}
}

func (p *Program) signal(sig syscall.Signal) {
	if err := p.process.Process.Signal(sig); err != nil {
		p.t.Errorf("signalling %s: %v", p.command[0], err)
	}
}

func (p *Program) cleanUp() {
	p.Kill()
	if log, err := os.ReadFile(p.log); err == nil && p.t.Failed() {
		const kept = 2000
		p.t.Logf("the log of %s ends with\n%s", p.command, log[max(0, len(log)-kept):])
	}
}
