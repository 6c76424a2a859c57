package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// logged is how many lines the log has.
func (f *fixture) logged() int { return strings.Count(f.log.String(), "\n") }

// failing makes the handler fail with what err returns.
func (f *fixture) failing(err func(c *gin.Context) error) {
	f.handler = func(c *gin.Context) { f.locks.Fail(c, err(c)) }
}

func TestFail_theFailureDecidesTheAnswer(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 3306}, Err: errors.New("refused")}
	for _, tt := range []struct {
		err    error
		status int
		kind   string
		// retry is set if the client is told to come again.
		retry bool
	}{
		{pathlock.FailureInvalid.New("x"), 400, "invalid-request", false},
		{fmt.Errorf("%w: suite 7", pathlock.ErrNotFound), 404, "not-found", false},
		{fmt.Errorf("%w: %w", pathlock.FailureNameTaken.New("x"), refused), 409, "name-taken", false},
		{pathlock.ErrPathChanged, 409, "path-changed", false},
		{lockspec.ErrWouldCycle, 409, "would-cycle", false},
		{pathlock.FailureStale.New("x"), 409, "stale", false},
		{pathlock.FailureReference.New("x"), 409, "reference", false},
		{pathlock.FailureDuplicate.New("x"), 409, "duplicate", false},
		{pathlock.FailureLocked.New("x"), 423, "locked", true},
		{&pathlock.ConflictError{Tree: plan}, 423, "locked", true},
		{fmt.Errorf("%w: 400 claims", pathlock.ErrInvalidRequest), 400, "invalid-request", false},
		{fmt.Errorf("%w: %w", pathlock.ErrUnavailable, refused), 503, "lock-store-unavailable", true},
		{pathlock.ErrLost, 503, "lock-store-unavailable", true},
		{pathlock.FailureDatabase.New("x"), 503, "database-unavailable", true},
		{fmt.Errorf("reading: %w", errKnown), 503, "database-unavailable", true},
		{pathlock.FailureOutcomeUnknown.New("x"), 503, "outcome-unknown", false},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), 503, "timeout", true},
		{errors.New("secret of the house"), 500, "internal", false},
		{errors.Join(errors.New("secret of the house"), pathlock.FailureNameTaken.New("x")), 409, "name-taken", false},
		{fmt.Errorf("x: %w", middleware.NewProblem(403, "forbidden", "no")), 403, "forbidden", false},
	} {
		t.Run(tt.err.Error(), func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			f.failing(func(c *gin.Context) error {
				c.Header("Content-Length", "7") // of the answer that it had in mind
				return tt.err
			})
			w := f.send("DELETE", "/suites/2", "")
			if f.is("the answer", w, tt.status, tt.kind); w.Header().Get("Content-Length") != "" {
				t.Error("the answer has the length of another one")
			}
			if got := w.Header().Get("Retry-After") != ""; got != tt.retry {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
			for _, secret := range []string{"192.0.2.7", "secret of the house", "the driver speaks"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("the answer says %q: %s", secret, w.Body)
				}
			}
			if len(f.seen.answered) != 1 || string(f.seen.answered[0]) != tt.kind {
				t.Errorf("observers were told of %q", f.seen.answered)
			}
			whole := strings.Contains(f.log.String(), "route=/suites/:id") && strings.Contains(f.log.String(), "error=")
			if tt.status >= 500 && (f.logged() != 1 || !whole) || tt.status < 500 && f.logged() != 0 {
				t.Errorf("logged %d times: %s", f.logged(), &f.log)
			}
		})
	}
}

// A handler that has waited for its own request is a bug of the program's.
func TestFail_logsAConflictWithTheOwnRequest(t *testing.T) {
	for asked, status := range map[string]int{"/dir1": http.StatusInternalServerError, "/other": http.StatusLocked} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		other := f.acquire("/other")
		f.failing(func(*gin.Context) error {
			return fmt.Errorf("without the request's context: %w", f.tryUnder(context.Background(), asked))
		})
		f.is(asked, f.send("DELETE", "/suites/2", ""), status, "")
		if strings.Contains(f.log.String(), "request's context") != (status == http.StatusInternalServerError) {
			t.Errorf("%s: logged %s", asked, &f.log)
		}
		f.release(other)
	}
}

// Fail leaves exactly the errors that it does not know to the program's own helper.
func TestFail_leavesUnknownErrorsToTheProgram(t *testing.T) {
	for _, tt := range []struct {
		what  string
		begun bool
		err   error
		own   bool
		code  int
	}{
		{"an unknown error", false, errors.New("secret of the house"), true, http.StatusTeapot},
		{"an unknown error, after the response began, which is logged", true, errors.New("secret of the house"), false, http.StatusOK},
		{"a refusal", false, pathlock.ErrPathChanged, false, http.StatusConflict},
		{"a problem of the program's", false, middleware.NewProblem(500, "internal", "chosen"), false, 500},
		{"an error that comes from a lost lock", false, pathlock.ErrLost, false, http.StatusServiceUnavailable},
	} {
		f, called := newFixture(t, memstore.New(), middleware.Config{}), false
		f.handler = func(c *gin.Context) {
			if tt.begun {
				c.String(http.StatusOK, "half")
			}
			f.locks.Fail(c, tt.err, func(c *gin.Context, err error) {
				called = errors.Is(err, tt.err) && !c.IsAborted() && len(c.Errors) == 0
				c.String(http.StatusTeapot, "mine")
			})
		}
		w := f.send("DELETE", "/suites/2", "")
		if tt.begun && (w.Body.String() != "half" || f.logged() != 1) {
			t.Errorf("%s: answered %s; logged %s", tt.what, w.Body, &f.log)
		}
		if called != tt.own || w.Code != tt.code || tt.own && (f.logged() != 0 || len(f.seen.answered) != 0 || w.Body.String() != "mine") {
			t.Errorf("%s: left to the program: %t; answered %d: %s; counted %q, logged %s", tt.what, called, w.Code, w.Body, f.seen.answered, &f.log)
		}
	}
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.handler = func(c *gin.Context) { f.locks.Fail(c, errors.New("secret of the house"), nil) }
	f.is("the answer of a program whose helper is nil", f.send("DELETE", "/suites/2", ""), http.StatusInternalServerError, "internal")
}

// The written problem may be changed, though handlers share a problem.
func TestProblem_sharedStaysAsItIs(t *testing.T) {
	shared := middleware.NewProblem(http.StatusForbidden, "forbidden", "not yours")
	f := newFixture(t, memstore.New(), middleware.Config{WriteProblem: func(c *gin.Context, p *middleware.Problem) {
		p.Detail += "!"
		middleware.WriteProblem(c, p)
	}})
	f.failing(func(*gin.Context) error { return shared })
	for range 2 {
		if got := f.problem(f.send("DELETE", "/suites/3", "")).Detail; got != "not yours!" {
			t.Errorf("the detail is %q", got)
		}
	}
}

// A lock that is lost while the nodes are looked at again is reported as such, whatever the
// resolver says of it; so is the reason why the request's own context has ended.
func TestFail_tellsWhatEndedALook(t *testing.T) {
	for _, kind := range []string{"lock-store-unavailable", "enough"} {
		f := newFixture(t, memstore.New(), middleware.Config{})
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		looks := 0
		f.locks = middleware.New(f.locker, pathlock.ResolverFunc(func(ctx context.Context, id string) (pathlock.Location, error) {
			if looks++; looks == 1 {
				return f.nodes.Resolve(ctx, id)
			}
			if kind == "enough" {
				leave(middleware.NewProblem(http.StatusServiceUnavailable, "enough", "enough"))
			} else if err := f.locker.ForceRelease(ctx, plan, f.locker.Scope(ctx).Owner()); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return pathlock.Location{}, errors.New("driver: bad connection")
		}), middleware.Config{Log: slog.New(slog.DiscardHandler)})
		f.engine.DELETE("/looked/:id", f.locks.Lock(lockspec.Delete(lockspec.Param("id"))), f.mustNotServe)
		f.is(kind, f.sendUnder(ctx, http.MethodDelete, "/looked/3", ""), http.StatusServiceUnavailable, kind)
		f.nothingLeft()
	}
}

// stated states a failure itself, in words that have those of others.
type stated struct{ err error }

func (e *stated) Error() string             { return "name taken: a sibling: " + e.err.Error() }
func (e *stated) Failure() pathlock.Failure { return pathlock.FailureNameTaken }
func (e *stated) Unwrap() error             { return e.err }

// However an error is wrapped, what a driver said stays behind the interface.
func TestProblem_detailIsNoDriversOwn(t *testing.T) {
	taken := fmt.Errorf("%w: a sibling: %w", pathlock.FailureNameTaken.New("name taken"), &os.PathError{Op: "insert", Path: "suites", Err: io.EOF})
	for name, err := range map[string]error{
		"alone":                     taken,
		"joined":                    errors.Join(&os.PathError{Op: "rollback", Path: "suites", Err: io.EOF}, taken),
		"by another library":        &url.Error{Op: "save", URL: "suites", Err: taken},
		"by two":                    &url.Error{Op: "save", URL: "suites", Err: &net.OpError{Op: "suites", Err: taken}},
		"joined by a library's":     errors.Join(&url.Error{Op: "save", URL: "suites", Err: taken}),
		"another's joined in fmt's": fmt.Errorf("%w", errors.Join(taken, &os.PathError{Op: "rollback", Path: "suites", Err: io.EOF})),
		"in parentheses":            fmt.Errorf("name taken: a sibling (%w)", &url.Error{Op: "save", URL: "suites", Err: taken}),
		"the driver's first":        fmt.Errorf("%w: %w", &os.PathError{Op: "insert", Path: "suites", Err: io.EOF}, fmt.Errorf("%w: a sibling", pathlock.FailureNameTaken.New("name taken"))),
		"by one that states it":     &stated{&url.Error{Op: "save", URL: "suites", Err: taken}},
		"a library's within fmt's":  fmt.Errorf("name taken: a sibling: %w", &url.Error{Op: "save", URL: "suites", Err: taken}),
	} {
		p := middleware.ProblemOf(err)
		if p == nil || p.Slug() != "name-taken" || p.Detail != "name taken: a sibling" {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// Clients learn what is impossible, but not what the program could do about it.
func TestProblem_detailHasNoAdviceForPrograms(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	deep := strings.Repeat("/"+strings.Repeat("n", pathlock.MaxNameBytes), 48)
	err := fmt.Errorf("pathlock/etcd: acquiring in %s: %w", plan, f.tryUnder(t.Context(), deep))
	want := "invalid request: the paths of the 49 nodes to be locked have 2409624 bytes, at most 1048576 are allowed"
	if p := middleware.ProblemOf(err); p == nil || p.Detail != want || !strings.Contains(err.Error(), "the gate") {
		t.Errorf("%v is answered by %v", err, p)
	}
}

// Clients learn what makes no sense, but not the tree's internal name.
func TestProblem_detailNamesNoTree(t *testing.T) {
	locker, ctx := pathlock.New(memstore.New()), t.Context()
	acquire := func(ctx context.Context, req pathlock.Request) *pathlock.Lock {
		req.Tree = plan
		lock, err := locker.Acquire(ctx, req)
		testerr.Must(t, err)
		return lock
	}
	outer := acquire(ctx, pathlock.Request{Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}})
	again := acquire(outer.Context(), pathlock.Request{Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}})
	_, relied := outer.Detach(ctx)
	testerr.Must(t, again.Release(ctx))
	token, err := outer.Detach(ctx)
	testerr.Must(t, err)
	attached, err := locker.Attach(ctx, token)
	testerr.Must(t, err)
	stays := attached.Exchange(ctx, nil, "")
	testerr.Must(t, attached.Release(ctx))
	for what, err := range map[string]error{
		"detach": relied, "exchange": stays, "downgrade": acquire(ctx, pathlock.Request{Gate: true}).Downgrade(ctx),
		"acquire": fmt.Errorf("pathlock: acquire in %s: %w: %q is no path", plan, pathlock.ErrInvalidPath, "a"),
	} {
		if p := middleware.ProblemOf(err); p == nil || p.Status != http.StatusBadRequest || strings.Contains(p.Detail, plan.String()) || !strings.HasPrefix(p.Detail, "invalid ") {
			t.Errorf("%s: %v is answered by %v", what, err, p)
		}
	}
}
