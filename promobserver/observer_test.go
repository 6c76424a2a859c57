package promobserver_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/label"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/promobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plan is the tree that the tests lock in.
var plan, _ = pathlock.NewTree("testplan", "secret-plan-id") // it is a valid one

// quiet keeps the lockers' warnings to themselves.
var quiet = pathlock.WithLogger(slog.New(slog.DiscardHandler))

// observed returns an observer, and a locker that has it.
func observed(opts ...promobserver.Option) (promobserver.Observer, *pathlock.Locker) {
	o := promobserver.New(opts...)
	return o, pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o))
}

// exclusive is a request for a node.
func exclusive(path string, wait time.Duration) pathlock.Request {
	return pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Wait: wait, Note: "a note"}
}

// doing returns a context of an operation.
func doing(ctx context.Context, operation string) context.Context {
	return pathlock.WithOrigin(ctx, pathlock.Origin{Operation: operation, Route: "PATCH /suites/:id", RequestID: "request-4711"})
}

// everything returns all metrics in the text format, but for help, types and buckets.
func everything(t *testing.T, o promobserver.Observer) (lines []string) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o)
	families, err := registry.Gather()
	testerr.Must(t, err)
	var text strings.Builder
	for _, f := range families {
		testerr.Must(t, testerr.Of(expfmt.MetricFamilyToText(&text, f)))
	}
	for line := range strings.Lines(text.String()) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "_bucket{") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

var record = flag.Bool("record", false, "write the metrics into testdata/metrics.txt")

// expect compares what has happened with a part of testdata/metrics.txt.
func expect(t *testing.T, o promobserver.Observer, part string) {
	t.Helper()
	const golden = "testdata/metrics.txt"
	lines := everything(t, o)
	if part != "the beginning" {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, " 0") })
	}
	file, err := os.ReadFile(golden)
	testerr.Must(t, err)
	_, rest, _ := strings.Cut(string(file), "\n## "+part+"\n")
	want, _, found := strings.Cut(rest, "\n\n")
	got := strings.Join(lines, "\n")
	if *record && !found {
		testerr.Must(t, os.WriteFile(golden, []byte(string(file)+"\n## "+part+"\n"+got+"\n\n"), 0o600))
	} else if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", part, got, want)
	}
}

func TestObserver_countsAcquisitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, l := observed()
		rename, err := l.Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
		testerr.Must(t, err)
		inner, err := l.Acquire(doing(rename.Context(), "rename"), exclusive("/a/b", 0))
		testerr.Must(t, err)
		testerr.Is(t, "a move", testerr.Of(l.Acquire(doing(t.Context(), "move"), exclusive("/a", 3*time.Second))), pathlock.ErrConflict)
		cancelled, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ended := make(chan error)
		go func() { ended <- testerr.Of(l.Acquire(cancelled, exclusive("/a", time.Minute))) }()
		go func() {
			lock, err := l.Acquire(doing(t.Context(), "move"), exclusive("/a", time.Minute))
			if err == nil {
				err = lock.Release(t.Context())
			}
			ended <- err
		}()
		synctest.Wait()
		expect(t, o, "two wait")
		if err := <-ended; err == nil {
			t.Fatal("granted for longer than the context lives")
		}
		time.Sleep(time.Second)
		testerr.Must(t, errors.Join(inner.Release(t.Context()), rename.Release(t.Context()), <-ended))
		synctest.Wait()
		expect(t, o, "all have ended")
	})
}

// A lock is lost once, whether the locker hears of it before the release or by it. Its release does
// not count as one that the lock store did not answer, which sets off PathlockReleasesFail.
func TestObserver_countsLostLeases(t *testing.T) {
	for _, isTold := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o, store := promobserver.New(), memstore.New()
			l, operator := pathlock.New(store, quiet, pathlock.WithObserver(o)), pathlock.New(store, quiet)
			if isTold {
				operator = l
			}
			lock, err := l.Acquire(doing(t.Context(), "delete"), exclusive("/a", 0))
			testerr.Must(t, err)
			testerr.Must(t, operator.ForceRelease(t.Context(), plan, l.Scope(lock.Context()).Owner()))
			if isTold {
				<-lock.Context().Done()
			}
			testerr.MustBe(t, "a release", lock.Release(doing(t.Context(), "delete")), pathlock.ErrLost)
			synctest.Wait() // the loss is told beside
			expect(t, o, "a lock is lost")
		})
	}
}

func TestObserver_countsStepsAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, l := observed()
		for _, s := range []struct {
			kind    pathlock.StepKind
			attempt int
			err     error
		}{
			{pathlock.StepCommit, 1, nil},
			{pathlock.StepCommit, 1, pathlock.FailureOutcomeUnknown.New("no answer")},
			{pathlock.StepAssert, 1, pathlock.ErrPathChanged},
			{pathlock.StepAssert, 3, fmt.Errorf("suites 3: %w", pathlock.ErrPathChanged)},
			{pathlock.StepAssert, 1, errors.New("a failure")},
			{pathlock.StepRetry, 2, nil},
		} {
			_, done := l.Step(doing(t.Context(), "move"), pathlock.Step{Kind: s.kind, Attempt: s.attempt})
			time.Sleep(time.Second)
			done(s.err)
		}
		for _, f := range []pathlock.Failure{pathlock.FailureDatabase, pathlock.FailureDatabase, "plan-7-is-full", "plan-8-is-full"} {
			l.Answered(t.Context(), f)
		}
		expect(t, o, "steps and answers")
	})
}

// The series of alerts exist before the first event: Prometheus sees no increase of a series that
// begins at 1. They look at sums, so that a failure which brings the series of its operation with
// it is an increase, too.
func TestObserver_rareCountersBeginAtZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, l := observed()
		lock, err := l.Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
		testerr.Must(t, err)
		expect(t, o, "the beginning")
		testerr.Must(t, lock.Release(t.Context()))
	})
}

// Candidates and observers wait for as long as the term lasts. No metric mixes that with the waits
// of requests.
func TestObserver_countsElectionsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, l := observed()
		e := election.New(l, "office")
		leadership, err := e.Campaign(t.Context(), "a")
		testerr.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			for _, err := range e.Observe(ctx) {
				testerr.None(t, err)
			}
		})
		all.Go(func() { _, _ = e.Campaign(ctx, "b") })
		time.Sleep(20 * time.Second)
		cancel()
		all.Wait()
		testerr.None(t, leadership.Resign(t.Context()))
		expect(t, o, "an election")
	})
}

// However many operations, trees, paths, notes and requests there are, the series stay few and say
// nothing of them.
func TestObserver_labelsStayFew(t *testing.T) {
	o, l := observed()
	for i := range 200 {
		ctx := doing(t.Context(), fmt.Sprintf("operation-%03d", i))
		lock, err := l.Acquire(ctx, exclusive(fmt.Sprintf("/secret-path-%d", i), 0))
		testerr.Must(t, err)
		testerr.Is(t, "a second", testerr.Of(l.Acquire(ctx, exclusive(fmt.Sprintf("/secret-path-%d", i), pathlock.NoWait))), pathlock.ErrConflict)
		testerr.Must(t, lock.Release(t.Context()))
	}
	text := strings.Join(everything(t, o), "\n")
	conflicts := strings.Count(text, "pathlock_conflicts_total{")
	others := fmt.Sprintf(`pathlock_conflicts_total{blocker="other",operation="other"} %d`, 200-label.MaxOperations)
	if conflicts != label.MaxOperations+1 || !strings.Contains(text, others) || !strings.Contains(text, "pathlock_held_duration_seconds_count") {
		t.Errorf("%d kinds of conflicts are in\n%s", conflicts, text)
	}
	if problems, err := testutil.CollectAndLint(o); err != nil || len(problems) > 0 {
		t.Errorf("the metrics are not as Prometheus has them: %v, %v", problems, err)
	}
	for _, secret := range []string{"secret", "suites", "request-", "a note", "testplan"} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics say %q", secret)
		}
	}
}

func TestObserver_exemplarsNameTheTrace(t *testing.T) {
	type traceKey struct{}
	trace := func(ctx context.Context) string {
		id, _ := ctx.Value(traceKey{}).(string)
		return id
	}
	for id, want := range map[string]bool{
		"4bf92f3577b34da6a3ce929d0e0e4736": true, "": false,
		strings.Repeat("x", 65): false, "\xff": false, // such would make the client library panic
	} {
		o, l := observed(promobserver.TraceID(trace))
		lock, err := l.Acquire(context.WithValue(t.Context(), traceKey{}, id), exclusive("/a", 0))
		testerr.Must(t, err)
		testerr.Must(t, lock.Release(t.Context()))
		text, err := testutil.CollectAndFormat(o, expfmt.TypeOpenMetrics, "pathlock_acquire_duration_seconds")
		testerr.Must(t, err)
		if got := strings.Contains(string(text), `# {trace_id="`+id+`"}`); got != want {
			t.Errorf("an exemplar of the trace %q: %v, want %v\n%s", id, got, want, text)
		}
		if count := `pathlock_acquire_duration_seconds_count{operation="none",outcome="granted"} 1`; !slices.Contains(everything(t, o), count) {
			t.Errorf("with the trace %q, the acquisition is not counted", id)
		}
	}
}
