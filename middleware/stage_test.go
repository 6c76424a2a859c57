package middleware_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Conversations of clients with the fixture's engine. testdata/locks.txt says what the commands
// mean.
func TestLock(t *testing.T)  { testlock.Transcripts(t, "locks.txt", newStage) }
func TestToken(t *testing.T) { testlock.Transcripts(t, "token.txt", newStage) }
func TestBody(t *testing.T)  { testlock.Transcripts(t, "body.txt", newStage) }

// stage is the world of a transcript.
type stage struct {
	*testlock.Stage
	*fixture
	store  *testlock.Watched
	config middleware.Config
	began  time.Time
	// served is what handlers found locked, and leave ends the context of the latest request.
	served []string
	leave  context.CancelCauseFunc
}

// near is a store whose releases are not made in the background.
type near struct{ *testlock.Watched }

func (near) Local() bool { return true }

func newStage(t *testing.T) *testlock.Stage {
	s := &stage{store: &testlock.Watched{Store: memstore.New()}, config: middleware.Config{Wait: pathlock.NoWait}, began: time.Now()}
	s.Stage = &testlock.Stage{T: t, Things: map[string]any{"long": strings.Repeat("x", 2000), "and100": strings.Repeat(",3", 100)}, Run: s.run}
	s.Causes = map[string]error{
		"lost": pathlock.ErrLost, "canceled": context.Canceled, "interrupted": errors.New("interrupted"), "absent": pathlock.ErrNotFound,
		"unknown": pathlock.FailureOutcomeUnknown.New("hm"), "known": fmt.Errorf("reading: %w", errKnown), "locked": pathlock.FailureLocked.New("x"),
		"deadline": context.DeadlineExceeded, "database": fmt.Errorf("draining: %w", pathlock.FailureDatabase.New("x")),
		"draining": errors.New("draining"),
		"nightly":  &pathlock.ConflictError{Tree: plan, Gate: true, Blocker: pathlock.Blocker{Note: "nightly", Gate: true, Mode: pathlock.ModeX}},
	}
	s.End = func() { testerr.None(t, s.locker.Shutdown(context.Background())) }
	s.start()
	return s.Stage
}

// authorizations are the kinds of Config.Authorize.
var authorizations = map[string]func(*gin.Context, []lockspec.Node) error{
	"allows":  func(*gin.Context, []lockspec.Node) error { return nil },
	"refuses": func(*gin.Context, []lockspec.Node) error { return middleware.NewProblem(403, "forbidden", "not yours") },
	"fails":   func(*gin.Context, []lockspec.Node) error { return errors.New("no directory") },
	"answers": func(c *gin.Context, _ []lockspec.Node) error { c.AbortWithStatus(http.StatusTeapot); return nil },
	"writes":  func(c *gin.Context, _ []lockspec.Node) error { c.JSON(http.StatusForbidden, nil); return nil },
	"begins":  func(c *gin.Context, _ []lockspec.Node) error { c.Writer.WriteHeaderNow(); return nil },
	"sends":   func(c *gin.Context, _ []lockspec.Node) error { c.Redirect(http.StatusFound, "/"); return nil },
	"panics": func(_ *gin.Context, nodes []lockspec.Node) error {
		if nodes[0].Path.String() == "/other/dir2" {
			panic("in Authorize")
		}
		return nil
	},
	"there": func(_ *gin.Context, nodes []lockspec.Node) error {
		if strings.HasPrefix(nodes[0].Path.String(), "/other") {
			return middleware.NewProblem(http.StatusForbidden, "forbidden", "not there")
		}
		return nil
	},
}

// start makes the engine, by the configuration so far.
func (s *stage) start(vary ...func(lockspec.Spec) lockspec.Spec) {
	s.fixture = newFixture(s.Stage.T, near{s.store}, s.config, vary...)
	s.handler = func(c *gin.Context) { s.handle(c, map[string]string{}) }
	id := lockspec.Param("id")
	for route, spec := range map[string]lockspec.Spec{
		"/json/:id":  lockspec.Rename(id, lockspec.JSON("name").Optional()),
		"/forms/:id": lockspec.Rename(id, lockspec.Form("name").Optional()),
		"/many/json": lockspec.Delete(lockspec.JSON("ids").Each()), "/many/query": lockspec.Delete(lockspec.Query("ids").Each()),
		"/many/form": lockspec.Delete(lockspec.Form("ids").Each()), "/many/named": lockspec.Delete(lockspec.Query("ids[]").Each()),
		"/many/csv": lockspec.Delete(lockspec.Query("csv").Each(",")), "/many/csvform": lockspec.Delete(lockspec.Form("csv").Each(",")),
		"/many/pipes": lockspec.Delete(lockspec.Query("pipes").Each("|").Optional()), "/twice/:id/:id": lockspec.Delete(id),
	} {
		for _, method := range []string{"GET", "POST", "PATCH"} {
			s.engine.Handle(method, route, s.locks.Lock(spec), func(c *gin.Context) { s.handler(c) })
		}
	}
	inner := s.locks.Lock(lockspec.Delete(id))
	again := func(c *gin.Context) { s.handler(c) }
	s.engine.POST("/inside/:id", s.locks.Lock(lockspec.Delete(lockspec.Const("2"))), again, inner, again)
	s.engine.POST("/called/:id", func(c *gin.Context) {
		if inner(c); !c.IsAborted() {
			s.handler(c)
		}
	})
	s.engine.POST("/names/:id", s.locks.Lock(lockspec.Names("project", lockspec.Const("p"))), inner, s.mustNotServe)
	slot, names := lockspec.Slot(id).Note("a lock"), lockspec.Names("project", lockspec.Const("p"))
	for path, spec := range map[string]lockspec.Spec{
		"/suites/:id/lock": slot, "/many/lock": lockspec.Slot(lockspec.JSON("ids").Each()), "/lend/short/:id": slot,
		"/lend/trees/:id": lockspec.All(names, slot), "/lend/nothing/:id": lockspec.None("hm"), "/lend/senseless/:id": lockspec.Slot(id.Kind("unknown")),
	} {
		s.engine.POST(path, s.locks.Lock(lockspec.None("the handler leaves a hold behind")), s.lending(spec))
	}
	s.engine.POST("/lend/behind/:id", s.locks.Lock(slot), s.lending(slot))
}

// lending is a handler that leaves a hold behind.
func (s *stage) lending(spec lockspec.Spec) gin.HandlerFunc {
	f := s.fixture
	return func(c *gin.Context) {
		lasting := time.Hour
		if strings.HasPrefix(c.FullPath(), "/lend/short/") {
			lasting = time.Millisecond
		}
		token, until, err := f.locks.Detach(c, spec, lasting, "anna edits")
		if err != nil {
			f.locks.Fail(c, err)
			return
		}
		c.Header(middleware.TokenHeader, string(token))
		c.String(http.StatusCreated, until.Format(time.RFC3339))
	}
}

// handle is the handler of all routes: it writes down what is locked, what it reads, and does what
// it is told to.
func (s *stage) handle(c *gin.Context, does map[string]string) {
	body, err := io.ReadAll(c.Request.Body)
	testerr.None(s.fixture, err)
	c.Request.Body = io.NopCloser(strings.NewReader(string(body)))
	held := strings.Join(s.held(), ", ")
	s.served = append(s.served, c.Param("id")+": "+cmp.Or(held, "nothing"))
	if strings.HasPrefix(c.FullPath(), "/many/") {
		s.list(c)
		return
	}
	ctx := c.Request.Context()
	if step := ctx.Value(stepKey{}); step != pathlock.StepHandler && held != "" {
		s.fixture.Errorf("a handler runs under the context of the step %v", step)
	}
	for _, path := range strings.FieldsFunc(does["has"], func(r rune) bool { return r == ',' }) {
		testerr.Is(s.fixture, "gin's context has "+path, s.tryUnder(c, path), nil)
		testerr.Is(s.fixture, "the request's context has "+path, s.tryUnder(ctx, path), nil)
	}
	for _, move := range strings.FieldsFunc(does["moves"], func(r rune) bool { return r == ',' }) {
		id, path, _ := strings.Cut(move, ":")
		s.nodes.move(id, path)
	}
	if token, ok := s.Things[does["ends"]].(pathlock.Token); ok {
		s.end(token)
		// An acquisition asks the store, which says that the hold has ended.
		testerr.Is(s.fixture, "acquired under a hold that has ended", s.tryUnder(ctx, "/x"), pathlock.ErrLost)
	}
	if d, err := time.ParseDuration(does["sleeps"]); err == nil {
		time.Sleep(d)
	}
	if cause, ok := s.Causes[does["leaves"]]; ok {
		s.leave(cause)
	}
	if does["loses"] != "" {
		testerr.None(s.fixture, s.locker.ForceRelease(c, plan, s.locker.Scope(ctx).Owner()))
	}
	if does["until"] == "done" || does["ends"] != "" {
		<-ctx.Done()
	}
	switch {
	case does["errs"] != "":
		_ = c.Error(s.Causes[does["errs"]])
	case does["panics"] == "abort":
		c.Request = nil
		panic(http.ErrAbortHandler)
	case does["panics"] != "":
		panic("in the handler")
	case does["fails"] == "cause":
		s.locks.Fail(c, context.Cause(ctx))
	case does["fails"] != "":
		s.locks.Fail(c, s.Causes[does["fails"]])
	case does["tries"] != "":
		s.locks.Fail(c, s.tryUnder(s.locker.Scope(ctx).Context(context.Background()), does["tries"]))
	}
	if c.Next(); !c.Writer.Written() && !c.IsAborted() {
		c.Status(http.StatusNoContent)
	}
}

// pauses are so many short ones.
type pauses int

func (p *pauses) NextBackoff() time.Duration {
	if *p--; *p < 0 {
		return 0
	}
	return time.Millisecond
}

// list answers with the list of ids that gin binds.
func (s *stage) list(c *gin.Context) {
	var all struct {
		IDs   []int `json:"ids" form:"ids"`
		Named []int `form:"ids[]"`
		CSV   []int `form:"csv" collection_format:"csv"`
		Pipes []int `form:"pipes" collection_format:"pipes"`
	}
	testerr.None(s.fixture, c.ShouldBind(&all))
	c.String(http.StatusOK, "%v", slices.Concat(all.IDs, all.Named, all.CSV, all.Pipes))
}
