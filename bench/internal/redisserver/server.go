package redisserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Times within which a server has to come up, and to go.
const (
	startTimeout = 10 * time.Second
	stopTimeout  = 5 * time.Second
)

// Server is a redis-server that this process has started.
type Server struct {
	// Addr is where it listens: host and port.
	Addr string

	folder string
	exited chan struct{}
	cmd    *exec.Cmd
}

// Start runs the redis-server that PATH has, on a free port of the loopback interface, in a
// folder of its own, without persistence, and returns when it answers. Stop it in the end.
func Start(ctx context.Context) (*Server, error) { return start(ctx) }

// StartReplica is [Start] for a replica of s, and returns when the replica has all that s has.
func (s *Server) StartReplica(ctx context.Context) (*Server, error) {
	host, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return nil, fmt.Errorf("the address of the primary: %w", err)
	}
	replica, err := start(ctx, "--replicaof", host+" "+port)
	if err != nil {
		return nil, err
	}
	if err := s.awaitReplica(ctx); err != nil {
		return nil, errors.Join(err, replica.Stop())
	}
	return replica, nil
}

// awaitReplica returns when a replica follows s.
func (s *Server) awaitReplica(ctx context.Context) error {
	client := redis.NewClient(&redis.Options{Addr: s.Addr, ReadTimeout: -1})
	defer func() { _ = client.Close() }()
	n, err := client.Wait(ctx, 1, startTimeout).Result()
	if err == nil && n < 1 {
		err = fmt.Errorf("it does not follow within %v", startTimeout)
	}
	if err != nil {
		return fmt.Errorf("waiting for the replica of %s: %w", s.Addr, err)
	}
	return nil
}

// start runs a server with further arguments.
func start(ctx context.Context, args ...string) (*Server, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("there is no redis-server to start: %w", err)
	}
	folder, err := os.MkdirTemp("", "pathlock-bench-redis-")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, exited: make(chan struct{})}
	if err := s.run(ctx, program, args); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// run starts the program and waits until it answers.
func (s *Server) run(ctx context.Context, program string, args []string) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	// The server outlives ctx until Stop, so that clients which clean up at the end still find it.
	own := []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.folder, "--logfile", s.logfile(), "--loglevel", "warning",
		// A replica is sent the data at once: there won't be a second that could share them.
		"--repl-diskless-sync-delay", "0",
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(own, args...)...)
	// An interrupt from the terminal is for this process alone, which then stops the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	s.cmd = cmd
	go func() {
		defer close(s.exited)
		_ = cmd.Wait() // however it ended: whoever waits for an answer looks at the log
	}()
	return s.await(ctx)
}

// await waits for the first answer.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if client.Ping(ctx).Err() == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.exited:
			return fmt.Errorf("redis-server on %s ended at once: %s", s.Addr, s.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s does not answer: %w: %s", s.Addr, context.Cause(ctx), s.lastWords())
		}
	}
}

// URL returns what clients call the server.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

// Stop ends the server, by force if it does not end by itself, and removes its folder.
func (s *Server) Stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		patience := time.AfterFunc(stopTimeout, func() { _ = s.cmd.Process.Kill() })
		<-s.exited
		patience.Stop()
	}
	return os.RemoveAll(s.folder)
}

func (s *Server) logfile() string { return filepath.Join(s.folder, "redis.log") }

func (s *Server) lastWords() string {
	words, err := os.ReadFile(s.logfile())
	if err != nil || len(words) == 0 {
		return "its log is empty"
	}
	return string(words)
}

// freePort returns a TCP port of the loopback interface that is free at the moment.
func freePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
