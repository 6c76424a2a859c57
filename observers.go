package pathlock

import "context"

// observers tells any number of observers, in the order in which they were given.
type observers []Observer

func (os observers) acquiring(ctx context.Context, e Event) context.Context {
	for _, o := range os {
		ctx = o.Acquiring(ctx, e)
	}
	return ctx
}

func (os observers) waiting(ctx context.Context, e Event) {
	for _, o := range os {
		o.Waiting(ctx, e)
	}
}

func (os observers) granted(ctx context.Context, e Event) {
	for _, o := range os {
		o.Granted(ctx, e)
	}
}

func (os observers) refused(ctx context.Context, e Event) {
	for _, o := range os {
		o.Refused(ctx, e)
	}
}

func (os observers) lost(ctx context.Context, e Event) {
	for _, o := range os {
		o.Lost(ctx, e)
	}
}

func (os observers) released(ctx context.Context, e Event) {
	for _, o := range os {
		o.Released(ctx, e)
	}
}
