package redisserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/daemon"
)

// How long a server may take to start and to stop.
const (
	startTimeout = 10 * time.Second
	stopTimeout  = 5 * time.Second
)

// Server is a redis-server that this process has started.
type Server struct {
	// Addr is its host and port.
	Addr string

	*daemon.Daemon
}

// Start starts the redis-server in PATH on a free port of the loopback interface, in a folder of
// its own and without persistence, and waits until it answers. Call Stop in the end.
func Start(ctx context.Context) (*Server, error) { return start(ctx) }

// StartReplica is [Start] for a replica of s. It waits until the replica has all data of s.
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

// awaitReplica waits until a replica follows s.
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
	d, err := daemon.New("redis-server", stopTimeout)
	if err != nil {
		return nil, err
	}
	s := &Server{Daemon: d}
	if err := s.run(ctx, program, args); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// run starts the program and waits until it answers.
func (s *Server) run(ctx context.Context, program string, args []string) error {
	port, err := daemon.FreePort(ctx)
	if err != nil {
		return err
	}
	s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	own := []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.Folder, "--logfile", s.Log, "--loglevel", "warning",
		// Send the data to the replica at once, since no second one could share the transfer.
		"--repl-diskless-sync-delay", "0",
	}
	if err := s.Start(ctx, program, append(own, args...)...); err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	return s.Await(ctx, startTimeout, func(ctx context.Context) error { return client.Ping(ctx).Err() })
}

// URL returns the server's URL.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }
