// Package testchild runs processes that tests kill and stop: servers, and a test program once more.
// An environment variable tells the latter which of the two it is.
package testchild

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Process is another process of the test program.
type Process struct {
	t       testing.TB
	process *exec.Cmd
	lines   *bufio.Scanner
}

// Start starts a process with further variables, each as name=value. It is killed at the end of the
// test.
func Start(t testing.TB, variables ...string) *Process {
	t.Helper()
	p := &Process{t: t, process: exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])}
	p.process.Env = append(os.Environ(), variables...)
	p.process.Stderr = os.Stderr
	output, err := p.process.StdoutPipe()
	testerr.Must(t, err)
	p.lines = bufio.NewScanner(output)
	testerr.Must(t, p.process.Start())
	t.Cleanup(p.Kill)
	return p
}

// Says waits for a line that begins with a text.
func (p *Process) Says(text string) {
	p.t.Helper()
	for p.lines.Scan() {
		if strings.HasPrefix(p.lines.Text(), text) {
			return
		}
	}
	p.t.Fatalf("the process ended without saying %q", text)
}

// Signal sends a signal.
func (p *Process) Signal(sig syscall.Signal) {
	p.t.Helper()
	testerr.None(p.t, p.process.Process.Signal(sig))
}

// Kill kills the process as kill -9 does.
func (p *Process) Kill() {
	if p.process.ProcessState == nil {
		p.Signal(syscall.SIGKILL)
		_ = p.process.Wait() // it was killed: that is the error
	}
}

// Output is a buffer that a process, or several goroutines, write to while a test reads it.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns what has been written.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
