package otelobserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/otelobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// doing returns a context of an operation.
func doing(ctx context.Context, operation string) context.Context {
	return pathlock.WithOrigin(ctx, pathlock.Origin{Operation: operation, Route: "PATCH /suites/:id"})
}

// A wait in one process is linked to the acquisitions in another that it waits for: the holder, and
// who is before it in the queue.
func TestObserver_linksAWaitToItsBlockers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		a, b := newProcess(t, store), newProcess(t, store)
		holder, err := a.Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
		testerr.Must(t, err)
		ended := make(chan error)
		wait := func(p *process, operation string, wait time.Duration) {
			go func() {
				lock, err := p.Acquire(doing(t.Context(), operation), exclusive("/a", wait))
				if err == nil {
					err = lock.Release(t.Context())
				}
				ended <- err
			}()
			synctest.Wait()
		}
		wait(a, "copy", time.Minute)
		wait(b, "move", 2*time.Second)
		if err := <-ended; !errors.Is(err, pathlock.ErrConflict) {
			t.Fatal(err)
		}
		acquired := a.span("pathlock acquire").SpanContext
		span := b.span("pathlock wait")
		if blocker := value(span.Attributes, "pathlock.blocker.operation"); len(span.Links) < 2 || blocker != "rename" {
			t.Fatalf("the wait has %d links, and was refused for %q", len(span.Links), blocker)
		}
		if first := span.Links[0]; first.SpanContext.SpanID() != acquired.SpanID() || first.SpanContext.TraceID() != acquired.TraceID() ||
			value(first.Attributes, "pathlock.blocker.operation") != "rename" || value(first.Attributes, "pathlock.blocker.waiting") != "false" {
			t.Errorf("the first link is %+v, want the holder's acquisition %v", first, acquired)
		}
		if second := span.Links[1]; value(second.Attributes, "pathlock.blocker.operation") != "copy" ||
			value(second.Attributes, "pathlock.blocker.waiting") != "true" {
			t.Errorf("the second link is %+v, want the earlier waiter", second)
		}
		testerr.Must(t, errors.Join(holder.Release(t.Context()), <-ended))
		refused := b.spans.GetSpans()[1]
		if refused.Name != "pathlock acquire" || refused.Status.Code != codes.Error || value(refused.Attributes, "pathlock.outcome") != "conflict" {
			t.Errorf("the refused acquisition is %+v", refused)
		}
		if got := b.tree(); !strings.HasPrefix(got, "pathlock acquire\n  pathlock wait\n") {
			t.Errorf("the spans are\n%s", got)
		}
	})
}

func TestObserver_nestsStepsInTheirContexts(t *testing.T) {
	p := newProcess(t, memstore.New())
	ctx, request := p.tracers.Tracer("a program's own").Start(t.Context(), "request")
	_, resolved := p.Step(ctx, pathlock.Step{Kind: pathlock.StepResolve})
	resolved(nil)
	lock, err := p.Acquire(doing(ctx, "rename"), exclusive("/secret", 0))
	testerr.Must(t, err)
	under, handled := p.Step(lock.Context(), pathlock.Step{Kind: pathlock.StepHandler})
	_, asserted := p.Step(under, pathlock.Step{Kind: pathlock.StepAssert, Attempt: 2})
	asserted(fmt.Errorf("suites 3 at /secret: %w", pathlock.ErrPathChanged))
	_, committed := p.Step(under, pathlock.Step{Kind: pathlock.StepCommit})
	committed(nil)
	handled(nil)
	testerr.Must(t, lock.Release(ctx))
	request.End()
	want := "request\n  pathlock resolve\n  pathlock acquire\n  pathlock handler\n    pathlock assert\n    pathlock commit\n  pathlock release\n"
	if got := p.tree(); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
	failed := p.span("pathlock assert")
	if failed.Status.Code != codes.Error || failed.Status.Description != "path-changed" || value(failed.Attributes, "pathlock.attempt") != "2" {
		t.Errorf("the failed assertion is %+v", failed)
	}
	for _, s := range p.spans.GetSpans() {
		if text := fmt.Sprintf("%+v %+v %+v", s.Attributes, s.Status, s.Events); strings.Contains(text, "secret") {
			t.Errorf("the span %s says what is locked: %s", s.Name, text)
		}
	}
}

func TestPathsAreNamedOnRequest(t *testing.T) {
	p := newProcess(t, memstore.New(), otelobserver.Paths())
	lock, err := p.Acquire(t.Context(), exclusive("/secret", 0))
	testerr.Must(t, err)
	testerr.Must(t, lock.Release(t.Context()))
	span := p.span("pathlock acquire")
	if got := value(span.Attributes, "pathlock.tree") + " " + value(span.Attributes, "pathlock.claims"); got != `testplan/secret-plan-id ["X /secret"]` {
		t.Errorf("the span says %s", got)
	}
}

func TestObserver_lostLeaseIsASpanOfItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, memstore.New())
		ctx, request := p.tracers.Tracer("a program's own").Start(t.Context(), "request")
		lock, err := p.Acquire(ctx, exclusive("/a", 0))
		testerr.Must(t, err)
		testerr.Must(t, p.ForceRelease(t.Context(), plan, p.Scope(lock.Context()).Owner()))
		<-lock.Context().Done()
		synctest.Wait()
		request.End()
		if lost := p.span("pathlock lost"); lost.Status.Code != codes.Error || lost.Parent.SpanID() != request.SpanContext().SpanID() {
			t.Errorf("the loss is %+v", lost)
		}
		_ = lock.Release(t.Context())
	})
}
