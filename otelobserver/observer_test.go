package otelobserver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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
		b.linked = map[string]string{nameOf(a.spans.GetSpans()[0].SpanContext): "the holder"}
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
		testerr.MustBe(t, "the move", <-ended, pathlock.ErrConflict)
		b.expect(`pathlock acquire operation=move route=PATCH /suites/:id outcome=conflict, error conflict
  pathlock wait blocker.operation=rename
    -> the holder blocker.waiting=false blocker.operation=rename
    -> another blocker.waiting=true blocker.operation=copy
    -> the holder blocker.waiting=false blocker.operation=rename
`)
		testerr.Must(t, errors.Join(holder.Release(t.Context()), <-ended))
	})
}

// No span says what is locked.
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
	p.expect(`request
  pathlock resolve attempt=1 outcome=ok
  pathlock acquire operation=rename route=PATCH /suites/:id outcome=granted
  pathlock handler attempt=1 outcome=ok
    pathlock assert attempt=2 outcome=path-changed, error path-changed
    pathlock commit attempt=1 outcome=ok
  pathlock release attempt=1 outcome=ok
`)
}

func TestObserver_pathsAreNamedOnRequest(t *testing.T) {
	p := newProcess(t, memstore.New(), otelobserver.Paths())
	lock, err := p.Acquire(t.Context(), exclusive("/secret", 0))
	testerr.Must(t, err)
	testerr.Must(t, lock.Release(t.Context()))
	p.expect(`pathlock acquire tree=testplan/secret-plan-id claims=["X /secret"] outcome=granted
pathlock release attempt=1 outcome=ok
`)
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
		_ = lock.Release(t.Context())
		request.End()
		p.expect(`pathlock release attempt=1 outcome=lost, error lost
request
  pathlock acquire outcome=granted
  pathlock lost, error lost
`)
	})
}
