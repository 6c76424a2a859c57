package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// interruption is the cause of a context that a signal ended.
type interruption struct{ signal os.Signal }

// Error implements error.
func (i *interruption) Error() string { return i.signal.String() }

// Is makes it what an ended context is for everybody who does not ask for the cause.
func (i *interruption) Is(target error) bool { return target == context.Canceled }

// exitCode is that of a program which a signal ended, as a shell reports it.
func (i *interruption) exitCode() int {
	if number, ok := i.signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitFailure
}

// interrupted returns by which signal ctx was ended, and nil if it was not.
func interrupted(ctx context.Context) *interruption {
	i, _ := errors.AsType[*interruption](context.Cause(ctx))
	return i
}

// interruptible returns a context that the first SIGINT or SIGTERM ends. The second one ends the
// process at once.
func interruptible(ctx context.Context) (interruptible context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(&interruption{s})
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}
