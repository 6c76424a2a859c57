package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Daemon is a server that this process has started, or is about to.
type Daemon struct {
	// Folder is the server's, and Log the file in it that the server writes its log to.
	Folder, Log string
	// Talks is to be set before Start for a server that writes its log to its output.
	Talks bool

	name     string
	patience time.Duration
	exited   chan struct{}
	cmd      *exec.Cmd
}

// New makes a folder for a server; patience is how long it may take to stop. Stop removes the
// folder, whether the server was started or not.
func New(name string, patience time.Duration) (*Daemon, error) {
	folder, err := os.MkdirTemp("", "pathlock-bench-"+name+"-")
	if err != nil {
		return nil, err
	}
	return &Daemon{Folder: folder, Log: filepath.Join(folder, "log"), name: name, patience: patience, exited: make(chan struct{})}, nil
}

// Start starts the program, which outlives ctx until Stop, so that clients which clean up at the
// end still find it.
func (d *Daemon) Start(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	// An interrupt from the terminal is for this process alone, which then stops the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if d.Talks {
		log, err := os.Create(d.Log)
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }() // the server has it open by then
		cmd.Stdout, cmd.Stderr = log, log
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	d.cmd = cmd
	go func() {
		defer close(d.exited)
		_ = cmd.Wait() // however it ended: whoever waits for an answer looks at the log
	}()
	return nil
}

// Await returns when the server answers: when ask gives no error. It fails where that takes too
// long, and where the server ends.
func (d *Daemon) Await(ctx context.Context, timeout time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-d.exited:
			return fmt.Errorf("%s ended at once: %s", d.name, d.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w: %s", d.name, errors.Join(context.Cause(ctx), err), d.lastWords())
		}
	}
}

// Stop ends the server, by force if it does not end by itself, and removes its folder.
func (d *Daemon) Stop() error {
	if d.cmd != nil {
		_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		force := time.AfterFunc(d.patience, func() { _ = d.cmd.Process.Kill() })
		<-d.exited
		force.Stop()
	}
	return os.RemoveAll(d.Folder)
}

// lastWords is the end of the log.
func (d *Daemon) lastWords() string {
	const most = 2000
	words, err := os.ReadFile(d.Log)
	if err != nil || len(words) == 0 {
		return "its log is empty"
	}
	return string(words[max(0, len(words)-most):])
}

// FreePort returns a TCP port of the loopback interface that is free at the moment.
func FreePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
