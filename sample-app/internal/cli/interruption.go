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

// oneSignal is for how long signals count as one: who ends a process and then its group, as
// timeout(1) does, sends two.
const oneSignal = time.Second

// interruptible returns a context that the first SIGINT or SIGTERM ends. One that comes more than a
// second later ends the process at once.
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
