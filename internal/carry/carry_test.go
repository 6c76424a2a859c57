package carry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/carry"
)

// framework is a context as gin's: it finds strings, and never ends.
type framework struct {
	context.Context
	values map[string]any
}

func (f *framework) Value(key any) any {
	if name, ok := key.(string); ok {
		return f.values[name]
	}
	return nil
}

type userKey string

// requestOf returns the request that a framework has by the name of it.
func requestOf(ctx context.Context) context.Context {
	request, _ := ctx.Value("request").(context.Context)
	return request
}

func TestJoinedContextsEndWithTheLocksAndWithThemselves(t *testing.T) {
	lost, enough := errors.New("lost"), errors.New("enough")
	for _, derived := range []bool{false, true} {
		for what, end := range map[string]error{"the locks end": lost, "it ends itself": enough} {
			if !derived && errors.Is(end, enough) {
				continue // gin's own context never does
			}
			locks, lose := context.WithCancelCause(context.WithValue(t.Context(), userKey("k"), "locks'"))
			f := &framework{context.Background(), map[string]any{}}
			_, f.values["key"] = carry.New(locks, f, "key", requestOf)
			var ctx context.Context = f
			stop := func(error) {}
			if derived {
				ctx, stop = context.WithCancelCause(context.WithValue(f, userKey("own"), "its"))
			}
			joined := carry.Join(ctx, "key")
			if joined.Err() != nil {
				t.Errorf("ended at once: %v", joined.Err())
			}
			if joined.Value(userKey("k")) != "locks'" || derived && joined.Value(userKey("own")) != "its" {
				t.Error("values are missing")
			}
			if carry.Join(joined, "key") != joined {
				t.Error("joined twice")
			}
			child, cancel := context.WithCancel(joined)
			defer cancel()
			if errors.Is(end, lost) {
				lose(lost)
			} else {
				stop(enough)
			}
			<-joined.Done()
			<-child.Done()
			if !errors.Is(context.Cause(joined), end) || !errors.Is(context.Cause(child), end) {
				t.Errorf("%s: the cause is %v, and a child's %v", what, context.Cause(joined), context.Cause(child))
			}
			lose(nil)
			stop(nil)
		}
	}
}

func TestJoinedContextsKeepTheirDeadline(t *testing.T) {
	f := &framework{context.Background(), map[string]any{}}
	_, f.values["key"] = carry.New(t.Context(), f, "key", requestOf)
	want := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(f, want)
	defer cancel()
	if got, ok := carry.Join(ctx, "key").Deadline(); !ok || !got.Equal(want) {
		t.Errorf("the deadline is %v, %v", got, ok)
	}
}

func TestAFrameworkMayForgetTheCarrier(t *testing.T) {
	f := &framework{context.Background(), map[string]any{}}
	request, carrier := carry.New(t.Context(), f, "key", requestOf)
	f.values["request"] = request
	joined := carry.Join(f, "key")
	if joined == context.Context(f) || carry.Context(f, "key") != request {
		t.Error("the locks are not found")
	}
	if carry.Join(joined, "key") != joined {
		t.Error("joined twice")
	}
	if carry.Context(f, "other") != nil {
		t.Error("the locks of others are found")
	}
	carrier.End()
	if carry.Join(f, "key") != context.Context(f) {
		t.Error("the locks are found though the request is over")
	}
}

func TestNothingIsJoinedWhenTheRequestIsOver(t *testing.T) {
	f := &framework{context.Background(), map[string]any{}}
	_, carrier := carry.New(t.Context(), f, "key", requestOf)
	f.values["key"] = carrier
	if carry.Context(f, "key") == nil || carry.Join(f, "key") == context.Context(f) {
		t.Error("the locks are not found")
	}
	carrier.End()
	if carry.Context(f, "key") != nil || carry.Join(f, "key") != context.Context(f) {
		t.Error("the locks are found though the request is over")
	}
}

// pooled is gin's own context under ContextWithFallback: it ends with its request, and the next
// request gets it, without a lock.
type pooled struct {
	request context.Context
	values  map[string]any
}

func (p *pooled) Deadline() (time.Time, bool) { return p.request.Deadline() }
func (p *pooled) Done() <-chan struct{}       { return p.request.Done() }
func (p *pooled) Err() error                  { return p.request.Err() }
func (p *pooled) Value(key any) any {
	if name, ok := key.(string); ok {
		return p.values[name]
	}
	return p.request.Value(key)
}

// Under the race detector, this fails if anybody asks a pooled context whose request is over.
func TestAPooledContextIsNotAskedOnceItsRequestIsOver(t *testing.T) {
	type ownKey string
	for range 30 {
		request, end := context.WithCancel(context.WithValue(t.Context(), userKey("of"), "the first"))
		p := &pooled{request, map[string]any{}}
		_, carrier := carry.New(request, p, "key", requestOf)
		p.values["key"] = carrier
		joined := carry.Join(context.WithValue(p, ownKey("own"), "its"), "key")
		if joined.Value(ownKey("own")) != "its" {
			t.Error("a value is missing")
		}
		carrier.End()
		end()
		p.request, p.values = context.WithValue(context.Background(), userKey("of"), "the second"), nil
		<-joined.Done()
		if cause := context.Cause(joined); !errors.Is(cause, context.Canceled) {
			t.Errorf("the cause is %v", cause)
		}
		if got := joined.Value(userKey("of")); got != "the first" {
			t.Errorf("the value is %v's", got)
		}
	}
}
