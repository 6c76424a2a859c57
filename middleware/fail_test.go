package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// explaining is a resolver that knows one error.
type explaining struct {
	pathlock.Resolver
	known   error
	failure pathlock.Failure
}

func (e explaining) FailureOf(err error) pathlock.Failure {
	if errors.Is(err, e.known) {
		return e.failure
	}
	return ""
}

// answers observes the ends of problems' types.
type answers struct {
	pathlock.NopObserver
	all []pathlock.Failure
}

// Answered implements [pathlock.Observer].
func (a *answers) Answered(_ context.Context, f pathlock.Failure) { a.all = append(a.all, f) }

// failing is an engine with a route whose handler fails, and its log.
type failing struct {
	*testing.T
	locker *pathlock.Locker
	engine *gin.Engine
	log    bytes.Buffer
	told   answers
	err    func(c *gin.Context) error
}

// errKnown is an error that only the resolver knows.
var errKnown = errors.New("the driver speaks")

func newFailing(t *testing.T) *failing {
	t.Helper()
	f := &failing{T: t, engine: gin.New()}
	f.locker = pathlock.New(memstore.New(), pathlock.WithObserver(&f.told))
	nodes := &nodes{paths: map[string]string{"1": "/", "2": "/a"}}
	locks := middleware.New(f.locker, explaining{nodes, errKnown, pathlock.FailureDatabase}, middleware.Config{
		Log: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	f.engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), func(c *gin.Context) { locks.Fail(c, f.err(c)) })
	return f
}

func (f *failing) send(ctx context.Context) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	f.engine.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "DELETE", "/suites/2", nil))
	return w
}

// logged is how many lines the log has.
func (f *failing) logged() int { return strings.Count(f.log.String(), "\n") }

func TestWhatFailedDecidesTheAnswer(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 3306}, Err: errors.New("refused")}
	for _, tt := range []struct {
		what   string
		err    error
		status int
		kind   string
		// retry is set where the client is told to come again.
		retry bool
	}{
		{"invalid", pathlock.FailureInvalid.New("x"), 400, "invalid-request", false},
		{"not found", fmt.Errorf("%w: suite 7", pathlock.ErrNotFound), 404, "not-found", false},
		{"name taken", pathlock.FailureNameTaken.New("x"), 409, "name-taken", false},
		{"path changed", pathlock.ErrPathChanged, 409, "path-changed", false},
		{"would cycle", lockspec.ErrWouldCycle, 409, "would-cycle", false},
		{"locked, by whom nobody knows", pathlock.FailureLocked.New("x"), 423, "locked", true},
		{"a conflict", &pathlock.ConflictError{Tree: plan}, 423, "locked", true},
		{"too many claims", fmt.Errorf("%w: 400 claims", pathlock.ErrInvalidRequest), 400, "invalid-request", false},
		{"the lock store", fmt.Errorf("%w: %w", pathlock.ErrUnavailable, refused), 503, "lock-store-unavailable", true},
		{"a lost lock", pathlock.ErrLost, 503, "lock-store-unavailable", true},
		{"the database", pathlock.FailureDatabase.New("x"), 503, "database-unavailable", true},
		{"what only the resolver knows", fmt.Errorf("reading: %w", errKnown), 503, "database-unavailable", true},
		{"an outcome that nobody knows", pathlock.FailureOutcomeUnknown.New("x"), 503, "outcome-unknown", false},
		{"a deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), 503, "timeout", true},
		{"anything else", errors.New("secret of the house"), 500, "internal", false},
		{"the first of several that says it", errors.Join(errors.New("secret of the house"), pathlock.FailureNameTaken.New("x")), 409, "name-taken", false},
		{"a problem of the handler's own", fmt.Errorf("x: %w", middleware.NewProblem(403, "forbidden", "no")), 403, "forbidden", false},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFailing(t)
			f.err = func(*gin.Context) error { return tt.err }
			w := f.send(t.Context())
			if w.Code != tt.status || !strings.Contains(w.Body.String(), middleware.ProblemType+tt.kind+`"`) {
				t.Errorf("answered %d: %s, want %d %s", w.Code, w.Body, tt.status, tt.kind)
			}
			if got := w.Header().Get("Retry-After") != ""; got != tt.retry {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
			for _, secret := range []string{"192.0.2.7", "secret of the house", "the driver speaks"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("the answer says %q: %s", secret, w.Body)
				}
			}
			if len(f.told.all) != 1 || string(f.told.all[0]) != tt.kind {
				t.Errorf("observers were told of %q", f.told.all)
			}
			want := 0
			if tt.status >= 500 {
				want = 1
			}
			if f.logged() != want || want == 1 && (!strings.Contains(f.log.String(), "route=/suites/:id") || !strings.Contains(f.log.String(), "error=")) {
				t.Errorf("logged %d times: %s", f.logged(), &f.log)
			}
		})
	}
}

// A handler that has waited for its own request is a bug of the program's.
func TestAConflictWithTheOwnRequestIsLogged(t *testing.T) {
	for what, tt := range map[string]struct {
		held, asked string
		status      int
	}{
		"its own":   {"/b", "/a", http.StatusInternalServerError},
		"another's": {"/b", "/b", http.StatusLocked},
	} {
		f := newFailing(t)
		other, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim(tt.held)})
		if err != nil {
			t.Fatal(err)
		}
		f.err = func(*gin.Context) error {
			_, err := f.locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: claim(tt.asked), Wait: pathlock.NoWait})
			return fmt.Errorf("without the request's context: %w", err)
		}
		if w := f.send(t.Context()); w.Code != tt.status || strings.Contains(f.log.String(), "request's context") != (tt.status == http.StatusInternalServerError) {
			t.Errorf("%s: answered %d: %s, logged %s", what, w.Code, w.Body, &f.log)
		}
		_ = other.Release(t.Context())
	}
}

// Work that is cut off stumbles over anything: over its context, over a driver that says
// "canceled", over a database that seems to be gone.
func TestWhyTheWorkWasCutOffDecidesTheAnswer(t *testing.T) {
	stumbles := map[string]error{
		"over its context": context.Canceled,
		"over the driver":  fmt.Errorf("reading: %w", errKnown),
		"over others":      pathlock.FailureLocked.New("x"),
		"over anything":    errors.New("interrupted"),
	}
	for what, err := range stumbles {
		t.Run("a lost lock, "+what, func(t *testing.T) {
			f := newFailing(t)
			f.err = func(c *gin.Context) error {
				if err := f.locker.ForceRelease(c, plan, f.locker.Scope(c.Request.Context()).Owner()); err != nil {
					t.Fatal(err)
				}
				<-c.Request.Context().Done()
				return err
			}
			if w := f.send(t.Context()); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "lock was lost") {
				t.Errorf("answered %d: %s", w.Code, w.Body)
			}
		})
		t.Run("a client that has gone, "+what, func(t *testing.T) {
			f := newFailing(t)
			ctx, leave := context.WithCancel(t.Context())
			f.err = func(*gin.Context) error {
				leave()
				return err
			}
			if w := f.send(ctx); w.Code != middleware.StatusClientGone || w.Body.Len() > 0 || f.logged() != 1 || len(f.told.all) > 0 || !strings.Contains(f.log.String(), "level=INFO") {
				t.Errorf("answered %d: %s; logged %s", w.Code, w.Body, &f.log)
			}
		})
		t.Run("a deadline, "+what, func(t *testing.T) {
			f := newFailing(t)
			ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(50*time.Millisecond))
			defer cancel()
			f.err = func(c *gin.Context) error {
				<-c.Request.Context().Done()
				return err
			}
			if w := f.send(ctx); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "timeout") {
				t.Errorf("answered %d: %s", w.Code, w.Body)
			}
		})
		t.Run("a cause that says what failed, "+what, func(t *testing.T) {
			f := newFailing(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			f.err = func(*gin.Context) error {
				cancel(fmt.Errorf("draining: %w", pathlock.FailureDatabase.New("x")))
				return err
			}
			if w := f.send(ctx); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "database-unavailable") {
				t.Errorf("answered %d: %s", w.Code, w.Body)
			}
		})
	}
}

// The program has ended the request for a reason of its own. What failed then is not the client's
// doing, unless it failed by that end.
func TestAnEndOfTheProgramsOwnIsNotTheClients(t *testing.T) {
	for err, want := range map[error]int{
		errors.New("broken"):                            http.StatusInternalServerError,
		fmt.Errorf("interrupted: %w", context.Canceled): middleware.StatusClientGone,
	} {
		f := newFailing(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		f.err = func(*gin.Context) error {
			cancel(errors.New("draining"))
			return err
		}
		if w := f.send(ctx); w.Code != want {
			t.Errorf("%v: answered %d, want %d: %s", err, w.Code, want, w.Body)
		}
	}
}

func TestAnErrorAfterTheResponseHasBegunIsLogged(t *testing.T) {
	f := newFailing(t)
	f.err = func(c *gin.Context) error {
		c.String(http.StatusOK, "half")
		return errors.New("torn")
	}
	if w := f.send(t.Context()); w.Code != http.StatusOK || w.Body.String() != "half" || f.logged() != 1 {
		t.Errorf("answered %d: %s; logged %s", w.Code, w.Body, &f.log)
	}
}
