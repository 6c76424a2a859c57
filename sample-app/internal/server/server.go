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

// DrainTimeout is how long running requests get to finish, which is longer than any of them may
// take.
const DrainTimeout = RequestTimeout + 5*time.Second

// Serve answers requests on listener until ctx ends. It then stops accepting, calls stop, and
// waits until running requests have finished. The functions of stop have to end those requests that
// would go on for as long as their clients like. The error is nil if all requests finished.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, stop ...func()) error {
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      RequestTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	for _, s := range stop {
		srv.RegisterOnShutdown(s)
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
