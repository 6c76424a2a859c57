// Package server runs an HTTP server until it is asked to stop. It then finishes the requests that
// it has accepted.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Timeouts against slow and silent clients.
const (
	readHeaderTimeout = 5 * time.Second
	// readTimeout is how long a request with its body may take to arrive, on every route.
	readTimeout = 10 * time.Second
	idleTimeout = 2 * time.Minute
)

// RequestTimeout is how long a request may take until its answer.
const RequestTimeout = 60 * time.Second

// MaxWait is how long a request may wait for locks. It leaves time for the work.
const MaxWait = RequestTimeout / 2

// Listening precedes the address in the first line that an instance writes.
const Listening = "test-plan backend on http://"

// MaxDrain is the longest [Config.Drain].
const MaxDrain = 10 * time.Minute

// DrainTimeout is how long running requests get to finish, which is longer than any of them may
// take.
const DrainTimeout = RequestTimeout + 5*time.Second

// Config is what [Serve] works with.
type Config struct {
	Handler http.Handler
	Log     *slog.Logger
	// Drain is for how long the server goes on accepting when it is asked to stop, so that whoever
	// sends it clients can notice and send them elsewhere.
	Drain time.Duration
	// Draining is called when that time begins.
	Draining func()
}

// Serve answers requests on listener until ctx ends. It then calls Draining, answers with the
// header Connection: close, so that clients leave between two requests, and goes on for the time of
// Drain. After that it stops accepting, and waits until running requests have finished. The error
// is nil if all requests finished.
func Serve(ctx context.Context, listener net.Listener, c Config) error {
	var draining atomic.Bool
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if draining.Load() {
				w.Header().Set("Connection", "close")
			}
			c.Handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      RequestTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	draining.Store(true)
	c.Draining()
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-time.After(c.Drain):
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainTimeout)
	defer cancel()
	err := srv.Shutdown(last)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests still ran %s after the stop: %w", DrainTimeout, err), srv.Close())
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
