package section

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

const (
	middlewareDepth = 3
	renameBody      = `{"name":"new name"}`
)

// The rows of the section, and the names of the benchmarks.
const (
	emptyHandler  = "empty handler"
	deleteHandler = "delete by the id in the URL"
	renameHandler = "rename: id in the URL, name in the JSON body"
)

// middlewareCost measures an empty handler by package testing, with and without the middleware.
func middlewareCost(ctx context.Context, env *Env) (result, error) {
	rows := []string{emptyHandler, deleteHandler, renameHandler}
	engines, err := newEngines()
	if err != nil {
		return result{}, err
	}
	rounds := env.Plan.HTTPRounds
	times, allocs := stats.NewSamples(rounds, len(rows)), stats.NewSamples(rounds, len(rows))
	err = stats.Turns(ctx, rounds, 1, len(rows), func(round, i int) error {
		b := testing.Benchmark(func(b *testing.B) { serveRequests(b, engines[rows[i]]) })
		if b.N == 0 {
			return fmt.Errorf("the benchmark of %q failed", rows[i])
		}
		times.Add(round, i, microseconds(b.T)/float64(b.N))
		allocs.Add(round, i, float64(b.AllocsPerOp()))
		return nil
	})
	if err != nil {
		return result{}, err
	}
	took := report.NewTable("time", "an HTTP request, served without a network", "µs", "", rows, times.Medians())
	objects := report.NewTable("allocs", "allocations for it", "allocs", "", rows, allocs.Medians())

	var goals []report.Target
	var differences [][]float64
	for i := 1; i < len(rows); i++ {
		difference := stats.Differences(took.Rows[i].Rounds, took.Rows[0].Rounds)
		differences = append(differences, difference)
		goals = append(goals, report.Target{
			ID: fmt.Sprintf("middleware-%d", i), What: "middleware, memory store, added to an empty handler: " + rows[i],
			Relation: report.Under, Limit: 10, Unit: "µs", Measured: stats.SpreadOf(difference),
		})
	}
	added := report.NewTable("added", "what the middleware adds", "µs", "", rows[1:], differences)
	return result{
		tables: []report.Table{took, objects, added}, targets: goals,
		notes: []string{
			fmt.Sprintf("nodes of depth %d; ids are resolved by a function that knows the answer, so that no database is measured; each request resolves twice", middlewareDepth),
			"the same by hand: go test -run='^$' -bench=Middleware ./internal/section",
		},
	}, nil
}

// newEngines returns one engine for each row, whose handler does nothing.
func newEngines() (map[string]*gin.Engine, error) {
	tree, err := pathlock.NewTree("bench", "plan")
	if err != nil {
		return nil, err
	}
	location := pathlock.Location{Tree: tree, Path: leafAt(middlewareDepth, "case-1")}
	resolver := pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) { return location, nil })
	locker := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	locks := middleware.New(locker, resolver, middleware.Config{})

	id := lockspec.Param("id")
	engines := make(map[string]*gin.Engine)
	for row, before := range map[string][]gin.HandlerFunc{
		emptyHandler:  nil,
		deleteHandler: {locks.Lock(lockspec.Delete(id))},
		renameHandler: {locks.Lock(lockspec.Rename(id, lockspec.JSON("name")))},
	} {
		engine := gin.New()
		engine.PATCH("/suites/:id", append(before, func(c *gin.Context) { c.Status(http.StatusNoContent) })...)
		engines[row] = engine
	}
	return engines, nil
}

// serveRequests is a benchmark of one engine: every iteration is one request with a body.
func serveRequests(b *testing.B, engine *gin.Engine) {
	b.ReportAllocs()
	body := strings.NewReader(renameBody)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPatch, "/suites/17", nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.ContentLength = int64(len(renameBody))
	w := &discard{header: make(http.Header)}
	for b.Loop() {
		body.Reset(renameBody)
		request.Body = io.NopCloser(body)
		engine.ServeHTTP(w, request)
		if w.status != http.StatusNoContent {
			b.Fatalf("the answer is %d", w.status)
		}
	}
}

// discard is a response that keeps only the status. A recorder would cost more than the handler.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
