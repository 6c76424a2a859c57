package pathlock

import (
	"context"
	"log/slog"
	"runtime/debug"
)

// observers tells any number of observers, in the order in which they were given.
type observers struct {
	all []Observer
	log *slog.Logger
}

// none reports whether there is nobody to tell.
func (os *observers) none() bool { return len(os.all) == 0 }

// tell calls one method of each observer. An observer looks on: where its method panics, that is
// logged, and neither the lock nor the goroutine is any the worse for it.
func (os *observers) tell(ctx context.Context, what string, method func(Observer)) {
	for _, o := range os.all {
		func() {
			defer os.contain(ctx, what)
			method(o)
		}()
	}
}

// contain, deferred, logs a panic of an observer.
func (os *observers) contain(ctx context.Context, what string) {
	if r := recover(); r != nil {
		report(ctx, os.log, slog.LevelError, "pathlock: an observer panicked", "method", what, "panic", r, "stack", string(debug.Stack()))
	}
}

func (os *observers) acquiring(ctx context.Context, e Event) context.Context {
	os.tell(ctx, "Acquiring", func(o Observer) {
		if own := o.Acquiring(ctx, e); own != nil {
			ctx = own
		}
	})
	return ctx
}

func (os *observers) waiting(ctx context.Context, e Event) {
	os.tell(ctx, "Waiting", func(o Observer) { o.Waiting(ctx, e) })
}

func (os *observers) granted(ctx context.Context, e Event) {
	os.tell(ctx, "Granted", func(o Observer) { o.Granted(ctx, e) })
}

func (os *observers) refused(ctx context.Context, e Event) {
	os.tell(ctx, "Refused", func(o Observer) { o.Refused(ctx, e) })
}

func (os *observers) lost(ctx context.Context, e Event) {
	os.tell(ctx, "Lost", func(o Observer) { o.Lost(ctx, e) })
}

func (os *observers) released(ctx context.Context, e Event) {
	os.tell(ctx, "Released", func(o Observer) { o.Released(ctx, e) })
}

// report logs. A handler that panics loses its record, and nobody's lock.
func report(ctx context.Context, log *slog.Logger, level slog.Level, message string, args ...any) {
	defer func() { _ = recover() }()
	log.Log(ctx, level, message, args...)
}
