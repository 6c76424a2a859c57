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

// Daemon is a server that this process has started or will start.
type Daemon struct {
	// Folder is the server's folder, and Log the name of its log file in the folder.
	Folder, Log string
	// Talks says that the server writes its log to its output. Set it before Start.
	Talks bool

	name     string
	patience time.Duration
	exited   chan struct{}
	cmd      *exec.Cmd
}

// New makes a folder for a server, which may take patience to stop. Stop removes the folder, even
// if the server was never started.
func New(name string, patience time.Duration) (*Daemon, error) {
	folder, err := os.MkdirTemp("", "pathlock-bench-"+name+"-")
	if err != nil {
		return nil, err
	}
	return &Daemon{Folder: folder, Log: filepath.Join(folder, "log"), name: name, patience: patience, exited: make(chan struct{})}, nil
}

// Start starts the program. It runs until Stop, even after the end of ctx, so that clients can
// still clean up.
func (d *Daemon) Start(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	// An interrupt from the terminal must reach only this process, which then stops the server.
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

// Await waits until ask returns no error. It fails if that takes too long, or if the server ends.
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

// lastWords returns the end of the log.
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
