package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interruption is the cause of a context that a signal ended. The exit code of the program is then
// 128 and the signal's number, as shells report it.
type interruption struct{ syscall.Signal }

// Error implements error.
func (i interruption) Error() string { return i.String() }

// Is makes it match [context.Canceled], as the error of a cancelled context does.
func (i interruption) Is(target error) bool { return target == context.Canceled }

// interrupted returns the signal that ended ctx, and nil if none did.
func interrupted(ctx context.Context) *interruption {
	if i, ok := errors.AsType[interruption](context.Cause(ctx)); ok {
		return &i
	}
	return nil
}

// oneSignal is the time within which signals count as one. timeout(1), for example, sends a signal
// to a process and then to its group.
const oneSignal = time.Second

// interruptible returns a context that the first SIGINT or SIGTERM ends. A signal more than
// oneSignal later ends the process at once.
func interruptible(ctx context.Context) (interruptible context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	stopped := context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, func() { signal.Stop(signals) }) })
	go func() {
		select {
		case s := <-signals:
			cancel(interruption{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		stopped()
		signal.Stop(signals)
		cancel(nil)
	}
}
