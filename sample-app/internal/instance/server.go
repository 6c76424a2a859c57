package instance

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

// workTimeout is when a request's work is cut off. The rest is for the rollback and for the answer
// that says so: a later one would not reach the client.
const workTimeout = RequestTimeout - 5*time.Second

// MaxWait is how long a request may wait for locks. It leaves time for the work.
const MaxWait = RequestTimeout / 2

// Listening precedes the address in the first line that an instance writes.
const Listening = "test-plan backend on http://"

// MaxDrain is the longest time for which [Instance.Serve] drains.
const MaxDrain = 10 * time.Minute

// DrainTimeout is how long running requests get to finish, which is longer than any of them may
// take.
const DrainTimeout = RequestTimeout + 5*time.Second

// Serve answers requests on listener until ctx ends. It then has /readyz say so, answers with the
// header Connection: close, so that clients leave between two requests, and goes on for the time of
// drain, so that whoever sends it clients can notice and send them elsewhere. After that it stops
// accepting, and waits until running requests have finished. The error is nil if all requests
// finished.
func (i *Instance) Serve(ctx context.Context, listener net.Listener, drain time.Duration, log *slog.Logger) error {
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if i.draining.Load() {
				w.Header().Set("Connection", "close")
			}
			work, cancel := context.WithTimeout(r.Context(), workTimeout)
			defer cancel()
			i.Handler.ServeHTTP(w, r.WithContext(work))
		}),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      RequestTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	drained := make(chan struct{})
	context.AfterFunc(ctx, func() {
		i.draining.Store(true)
		time.AfterFunc(drain, func() { close(drained) })
	})
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-drained:
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
