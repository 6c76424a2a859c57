package otelobserver

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/pathlock-go/pathlock"
)

// Bounds of the search for what a request waits for.
const (
	// maxSearches is how many searches run at once. Waits that begin meanwhile get no links but
	// that of their refusal.
	maxSearches = 4
	// searchTimeout bounds one search.
	searchTimeout = time.Second
	// maxLinks is how many acquisitions a wait is linked to.
	maxLinks = 8
)

// LinkBlockers implements [Observer].
func (o *observer) LinkBlockers(locker *pathlock.Locker) { o.locker = locker }

// find links the span of a wait to the acquisitions that it waits for, on a goroutine of its own,
// until the returned function is called.
func (o *observer) find(span trace.Span, e pathlock.Event) context.CancelFunc {
	ctx, cancel := context.WithTimeout(context.Background(), searchTimeout)
	select {
	case o.searches <- struct{}{}:
	default:
		return cancel
	}
	go func() {
		defer func() { <-o.searches }()
		s, err := o.locker.Snapshot(ctx, e.Tree)
		if err != nil || ctx.Err() != nil {
			return // it is only a link that is missing
		}
		for _, link := range linksOf(s, e.Owner) {
			span.AddLink(link)
		}
	}()
	return cancel
}

// linksOf returns links to those that an owner waits for, none if it does not wait.
func linksOf(s pathlock.Snapshot, owner pathlock.Owner) (links []trace.Link) {
	i := slices.IndexFunc(s.Waiters, func(h pathlock.Entry) bool { return h.Owner == owner })
	if i < 0 {
		return nil
	}
	for _, b := range s.Blockers()[i] {
		if link, ok := linkTo(b.Entry.Origin, b.Waiting); ok {
			links = append(links, link)
		}
		if len(links) == maxLinks {
			break
		}
	}
	return links
}

// linkTo returns a link to the span of an origin, if it names one.
func linkTo(origin pathlock.Origin, waiting bool) (trace.Link, bool) {
	carrier := propagation.MapCarrier{"traceparent": origin.Trace}
	span := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	if !span.IsValid() {
		return trace.Link{}, false
	}
	link := trace.Link{SpanContext: span}
	link.Attributes = append(link.Attributes, waitingKey.Bool(waiting))
	if origin.Operation != "" {
		link.Attributes = append(link.Attributes, blockerKey.String(origin.Operation))
	}
	if origin.Instance != "" {
		link.Attributes = append(link.Attributes, instanceKey.String(origin.Instance))
	}
	return link, true
}

// traceparent returns a span as W3C Trace Context writes it, "" if there is none.
func traceparent(span trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), span), carrier)
	return carrier["traceparent"]
}
