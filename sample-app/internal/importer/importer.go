// Package importer turns a directory tree into a plan: directories become suites, and the _test.go
// files in them cases.
//
// An import can be interrupted at any point and run again. It keeps what is there, and adds only
// what is missing.
package importer

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// batch is how many names are imported at once: few enough that users do not wait long for the
// locks, enough for thousands of rows a second.
const batch = 250

// Options say what to import, and into which plan.
type Options struct {
	Project string
	Plan    string
	Dir     string
	// Exclude are the names of directories to leave out.
	Exclude []string
	// Out gets the progress and the summary.
	Out io.Writer
}

// Run imports a directory tree into a plan. It creates the plan if it does not exist.
func Run(ctx context.Context, service *plans.Service, opts Options) error {
	start := time.Now()
	_, _ = fmt.Fprintf(opts.Out, "reading %s\n", opts.Dir)
	names, err := scan(ctx, opts)
	if err != nil {
		return fmt.Errorf("import %s: %w", opts.Dir, err)
	}
	plan, err := findOrCreate(ctx, service, opts.Project, opts.Plan)
	if err != nil {
		return fmt.Errorf("import into plan %q: %w", opts.Plan, err)
	}
	bar := progressbar.NewOptions(len(names.Suites)+len(names.Cases), progressbar.OptionSetWriter(opts.Out),
		progressbar.OptionSetVisibility(isTerminal(opts.Out)), progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowCount(), progressbar.OptionFullWidth(), progressbar.OptionSetPredictTime(true))
	var made plans.Imported
	var batches []plans.Import
	for some := range slices.Chunk(names.Suites, batch) {
		batches = append(batches, plans.Import{Suites: some})
	}
	for some := range slices.Chunk(names.Cases, batch) {
		batches = append(batches, plans.Import{Cases: some})
	}
	for _, some := range batches {
		added, err := service.ImportNames(ctx, plan.ID, some)
		if err != nil {
			_ = bar.Exit()
			return fmt.Errorf("import into plan %q (run it again to continue): %w", opts.Plan, err)
		}
		made.Suites, made.Cases = made.Suites+added.Suites, made.Cases+added.Cases
		_ = bar.Add(len(some.Suites) + len(some.Cases)) // an import goes on even if the bar cannot be drawn
	}
	_ = bar.Exit()
	_, _ = fmt.Fprintf(opts.Out, "plan %q (id %d) of project %q: %d suites and %d cases, of which %d and %d are new, in %s\n",
		plan.Name, plan.ID, plan.Project, len(names.Suites), len(names.Cases), made.Suites, made.Cases, time.Since(start).Round(10*time.Millisecond))
	return nil
}

// isTerminal reports whether out can show a bar.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// findOrCreate returns the plan, and creates it if there is none.
func findOrCreate(ctx context.Context, service *plans.Service, project, name string) (model.Plan, error) {
	existing, err := service.Plans(ctx, project)
	if err != nil {
		return model.Plan{}, err
	}
	if i := slices.IndexFunc(existing, func(p model.Plan) bool { return p.Name == name }); i >= 0 {
		return existing[i], nil
	}
	return service.CreatePlan(ctx, project, name)
}
