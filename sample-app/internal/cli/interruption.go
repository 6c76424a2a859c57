package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interruption is the cause of a context that a signal ended.
type interruption struct{ signal os.Signal }

// Error implements error.
func (i *interruption) Error() string { return i.signal.String() }

// Is makes it match [context.Canceled], as the error of a cancelled context does.
func (i *interruption) Is(target error) bool { return target == context.Canceled }

// exitCode returns the exit code with which shells report a program that the signal ended.
func (i *interruption) exitCode() int {
	if number, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitFailure
}

// interrupted returns the signal that ended ctx, and nil if none did.
func interrupted(ctx context.Context) *interruption {
	i, _ := errors.AsType[*interruption](context.Cause(ctx))
	return i
}

// oneSignal is the time within which signals count as one. timeout(1), for example, sends a signal
// to a process and then to its group.
const oneSignal = time.Second

// interruptible returns a context that the first SIGINT or SIGTERM ends. A signal more than
// oneSignal later ends the process at once.
func interruptible(ctx context.Context) (interruptible context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			cancel(&interruption{s})
			select {
			case <-time.After(oneSignal):
			case <-stopped:
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		close(stopped)
		<-ended
	}
}
