package promobserver_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/label"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/promobserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// plan is the tree that the tests lock in.
var plan = func() pathlock.Tree {
	tree, err := pathlock.NewTree("testplan", "secret-plan-id")
	if err != nil {
		panic(err)
	}
	return tree
}()

// quiet keeps the lockers' warnings to themselves.
var quiet = pathlock.WithLogger(slog.New(slog.DiscardHandler))

// exclusive is a request for a node.
func exclusive(path string, wait time.Duration) pathlock.Request {
	return pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Wait: wait, Note: "a note"}
}

// doing returns a context of an operation.
func doing(ctx context.Context, operation string) context.Context {
	return pathlock.WithOrigin(ctx, pathlock.Origin{Operation: operation, Route: "PATCH /suites/:id", RequestID: "request-4711"})
}

// expect compares metrics with the text format, without the lines of help and type, and without the
// counters of what has not happened.
func expect(t *testing.T, o promobserver.Observer, want string, names ...string) {
	t.Helper()
	text, err := testutil.CollectAndFormat(o, expfmt.TypeTextPlain, names...)
	testerr.Must(t, err)
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if zero := strings.Contains(line, "_total") && strings.HasSuffix(line, " 0\n"); !zero && !strings.HasPrefix(line, "#") {
			got.WriteString(line)
		}
	}
	if got.String() != want {
		t.Errorf("collected:\n%s\nwant:\n%s", got.String(), want)
	}
}

func TestObserver_countsAcquisitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := promobserver.New()
		l := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o))
		rename, err := l.Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
		testerr.Must(t, err)
		inner, err := l.Acquire(doing(rename.Context(), "rename"), exclusive("/a/b", 0))
		testerr.Must(t, err)
		if _, err := l.Acquire(doing(t.Context(), "move"), exclusive("/a", 3*time.Second)); !errors.Is(err, pathlock.ErrConflict) {
			t.Fatal(err)
		}
		cancelled, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ended := make(chan error)
		go func() {
			_, err := l.Acquire(cancelled, exclusive("/a", time.Minute))
			ended <- err
		}()
		go func() {
			lock, err := l.Acquire(doing(t.Context(), "move"), exclusive("/a", time.Minute))
			if err == nil {
				err = lock.Release(t.Context())
			}
			ended <- err
		}()
		synctest.Wait()
		expect(t, o, `pathlock_held 2
pathlock_waiting{operation="move"} 1
pathlock_waiting{operation="none"} 1
pathlock_waiting{operation="rename"} 0
`, "pathlock_held", "pathlock_waiting")
		if err := <-ended; err == nil {
			t.Fatal("granted for longer than the context lives")
		}
		time.Sleep(time.Second)
		testerr.Must(t, errors.Join(inner.Release(t.Context()), rename.Release(t.Context()), <-ended))
		synctest.Wait()
		expect(t, o, `pathlock_acquisitions_total{operation="move",outcome="conflict"} 1
pathlock_acquisitions_total{operation="move",outcome="granted"} 1
pathlock_acquisitions_total{operation="none",outcome="conflict"} 1
pathlock_acquisitions_total{operation="rename",outcome="granted"} 1
pathlock_acquisitions_total{operation="rename",outcome="reentrant"} 1
pathlock_conflicts_total{blocker="rename",operation="move"} 1
pathlock_conflicts_total{blocker="rename",operation="none"} 1
pathlock_held 0
pathlock_waiting{operation="move"} 0
pathlock_waiting{operation="none"} 0
pathlock_waiting{operation="rename"} 0
`, "pathlock_acquisitions_total", "pathlock_conflicts_total", "pathlock_held", "pathlock_waiting")
		for name, want := range map[string]string{
			`pathlock_wait_duration_seconds_sum{operation="move"}`:                      "5", // three until it was refused, two until it was granted
			`pathlock_wait_duration_seconds_count{operation="move"}`:                    "2",
			`pathlock_wait_duration_seconds_sum{operation="none"}`:                      "1",
			`pathlock_held_duration_seconds_sum{operation="rename"}`:                    "10", // two locks for five seconds
			`pathlock_acquire_duration_seconds_sum{operation="move",outcome="granted"}`: "2",
		} {
			if got := sample(t, o, name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
	})
}

// sample returns the value of one line of the text format, "" if there is none.
func sample(t *testing.T, o promobserver.Observer, name string) string {
	t.Helper()
	for line := range strings.Lines(everything(t, o)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// everything returns all metrics in the text format.
func everything(t *testing.T, o promobserver.Observer) string {
	t.Helper()
	families, err := registered(o).Gather()
	testerr.Must(t, err)
	var text strings.Builder
	for _, f := range families {
		testerr.Must(t, testerr.Of(expfmt.MetricFamilyToText(&text, f)))
	}
	return text.String()
}

// A lock is lost once, whether the locker hears of it before the release or by it.
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
			if err := lock.Release(doing(t.Context(), "delete")); !errors.Is(err, pathlock.ErrLost) {
				t.Fatal(err)
			}
			synctest.Wait() // the loss is told beside
			expect(t, o, "pathlock_held 0\npathlock_lost_total{operation=\"delete\"} 1\n", "pathlock_lost_total", "pathlock_held")
			expectNoAlarm(t, o)
		})
	}
}

// expectNoAlarm checks that the release of one lock counts as a loss, and not as one that the lock
// store did not answer, which sets off PathlockReleasesFail.
func expectNoAlarm(t *testing.T, o promobserver.Observer) {
	t.Helper()
	for outcome, want := range map[string]string{"lost": "1", "lock-store-unavailable": "0"} {
		if got := sample(t, o, fmt.Sprintf(`pathlock_step_duration_seconds_count{outcome=%q,step="release"}`, outcome)); got != want {
			t.Errorf("%q releases with the outcome %s, want %s", got, outcome, want)
		}
	}
}

func TestObserver_countsSteps(t *testing.T) {
	o := promobserver.New()
	l := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o))
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
		done(s.err)
	}
	expect(t, o, `pathlock_assertion_failures_total{attempt="1",operation="move"} 1
pathlock_assertion_failures_total{attempt="2",operation="move"} 1
pathlock_retries_total{operation="move"} 1
`, "pathlock_assertion_failures_total", "pathlock_retries_total")
	for labels, want := range map[string]string{
		`outcome="ok",step="commit"`: "1", `outcome="outcome-unknown",step="commit"`: "1",
		`outcome="path-changed",step="assert"`: "2", `outcome="error",step="assert"`: "1", `outcome="ok",step="retry"`: "1",
	} {
		if got := sample(t, o, "pathlock_step_duration_seconds_count{"+labels+"}"); got != want {
			t.Errorf("%s: %q, want %s", labels, got, want)
		}
	}
}

// What alerts are about is there before it happens: Prometheus sees no increase of a series that
// begins at 1. They look at sums, so that a failure which brings the series of its operation with
// it is an increase, too.
func TestObserver_rareCountersBeginAtZero(t *testing.T) {
	o := promobserver.New()
	begun := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if got := sample(t, o, name); got != "0" {
				t.Errorf("%s is %q", name, got)
			}
		}
	}
	of := func(operation string) {
		t.Helper()
		begun(`pathlock_lost_total{operation="`+operation+`"}`, `pathlock_retries_total{operation="`+operation+`"}`,
			`pathlock_assertion_failures_total{attempt="1",operation="`+operation+`"}`,
			`pathlock_assertion_failures_total{attempt="2",operation="`+operation+`"}`,
			`pathlock_acquisitions_total{operation="`+operation+`",outcome="conflict"}`,
			`pathlock_acquisitions_total{operation="`+operation+`",outcome="unavailable"}`, `pathlock_acquisitions_total{operation="`+operation+`",outcome="degraded"}`, `pathlock_waiting{operation="`+operation+`"}`)
	}
	of("none")
	begun(`pathlock_step_duration_seconds_count{outcome="outcome-unknown",step="commit"}`,
		`pathlock_step_duration_seconds_count{outcome="lock-store-unavailable",step="release"}`,
		`pathlock_problems_total{type="database-unavailable"}`)
	lock, err := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o)).Acquire(doing(t.Context(), "rename"), exclusive("/a", 0))
	testerr.Must(t, err)
	defer func() { _ = lock.Release(t.Context()) }()
	of("rename")
}

func TestObserver_countsAnswersByProblem(t *testing.T) {
	o := promobserver.New()
	l := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o))
	for _, f := range []pathlock.Failure{pathlock.FailureDatabase, pathlock.FailureDatabase, "plan-7-is-full", "plan-8-is-full"} {
		l.Answered(t.Context(), f)
	}
	expect(t, o, "pathlock_problems_total{type=\"database-unavailable\"} 2\npathlock_problems_total{type=\"other\"} 2\n", "pathlock_problems_total")
}

// Candidates and observers wait for as long as the term lasts. No metric mixes that with the waits
// of requests.
func TestObserver_countsElectionsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := promobserver.New()
		e := election.New(pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o)), "office")
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
		for line := range strings.Lines(everything(t, o)) {
			if strings.Contains(line, `operation="none"`) && !strings.HasSuffix(line, " 0\n") {
				t.Errorf("an election counts as work: %s", line)
			}
		}
		for name, want := range map[string]string{
			`pathlock_wait_duration_seconds_sum{operation="campaign"}`: "20",
			`pathlock_wait_duration_seconds_sum{operation="observe"}`:  "20",
			`pathlock_held_duration_seconds_sum{operation="campaign"}`: "20",
		} {
			if got := sample(t, o, name); got != want {
				t.Errorf("%s is %q, want %s", name, got, want)
			}
		}
	})
}

// However many operations, trees, paths, notes and requests there are, the series stay few and say
// nothing of them.
func TestObserver_labelsStayFew(t *testing.T) {
	o := promobserver.New()
	l := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o))
	for i := range 200 {
		ctx := doing(t.Context(), fmt.Sprintf("operation-%03d", i))
		lock, err := l.Acquire(ctx, exclusive(fmt.Sprintf("/secret-path-%d", i), 0))
		testerr.Must(t, err)
		if _, err := l.Acquire(ctx, exclusive(fmt.Sprintf("/secret-path-%d", i), pathlock.NoWait)); err == nil {
			t.Fatal("granted twice")
		}
		testerr.Must(t, lock.Release(t.Context()))
	}
	var want strings.Builder
	for i := range label.MaxOperations {
		fmt.Fprintf(&want, "pathlock_conflicts_total{blocker=\"operation-%03d\",operation=\"operation-%03d\"} 1\n", i, i)
	}
	fmt.Fprintf(&want, "pathlock_conflicts_total{blocker=\"other\",operation=\"other\"} %d\n", 200-label.MaxOperations)
	expect(t, o, want.String(), "pathlock_conflicts_total")
	text := everything(t, o)
	if !strings.Contains(text, "pathlock_held_duration_seconds_count") {
		t.Errorf("not everything is there:\n%s", text)
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
		o := promobserver.New(promobserver.TraceID(trace))
		l := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(o))
		lock, err := l.Acquire(context.WithValue(t.Context(), traceKey{}, id), exclusive("/a", 0))
		testerr.Must(t, err)
		testerr.Must(t, lock.Release(t.Context()))
		text, err := testutil.CollectAndFormat(o, expfmt.TypeOpenMetrics, "pathlock_acquire_duration_seconds")
		testerr.Must(t, err)
		if got := strings.Contains(string(text), `# {trace_id="`+id+`"}`); got != want {
			t.Errorf("an exemplar of the trace %q: %v, want %v\n%s", id, got, want, text)
		}
		if got := sample(t, o, `pathlock_acquire_duration_seconds_count{operation="none",outcome="granted"}`); got != "1" {
			t.Errorf("with the trace %q, %q acquisitions are counted", id, got)
		}
	}
}

// registered returns a registry with an observer.
func registered(o promobserver.Observer) *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o)
	return registry
}
