// Package server runs an HTTP server until it is asked to stop, and then lets the
// requests finish that it has accepted.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Timeouts that keep slow and silent clients from holding connections for good.
const (
	readHeaderTimeout = 5 * time.Second
	// readTimeout is for a whole request, with its body, whether or not a route takes it.
	readTimeout = 10 * time.Second
	idleTimeout = 2 * time.Minute
)

// RequestTimeout is how long a request may take until it is answered.
const RequestTimeout = 60 * time.Second

// MaxWait is how long a request may wait for locks: there has to be time left for the work.
const MaxWait = RequestTimeout / 2

// Listening is what precedes the address in the first line that an instance writes.
const Listening = "test-plan backend on http://"

// DrainTimeout is how long running requests get to finish: longer than any of them may take.
const DrainTimeout = RequestTimeout + 5*time.Second

// Serve answers the requests that listener accepts until ctx ends. Then it stops accepting, lets
// running requests finish, and returns; the error is nil if all of them did.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      RequestTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainTimeout)
	defer cancel()
	err := srv.Shutdown(drain)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests still ran %s after the stop: %w", DrainTimeout, err), srv.Close())
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
