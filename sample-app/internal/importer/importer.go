package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// batch is how many rows one statement writes: few enough that users do not wait long for the
// locks, enough for thousands of rows a second.
const batch = 250

// shownWarnings is how many warnings a summary lists.
const shownWarnings = 20

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
	t, err := scan(ctx, opts.Dir, opts.Exclude)
	if err != nil {
		return fmt.Errorf("import %s: %w", opts.Dir, err)
	}
	plan, err := findOrCreate(ctx, service, opts.Project, opts.Plan)
	if err != nil {
		return fmt.Errorf("import into plan %q: %w", opts.Plan, err)
	}
	w := writer{service: service, plan: plan, progress: newProgress(opts.Out, len(t.nodes)+t.cases)}
	if err := w.write(ctx, t); err != nil {
		w.progress.finish()
		return fmt.Errorf("import into plan %q (run it again to continue): %w", opts.Plan, err)
	}
	w.progress.finish()
	_, _ = fmt.Fprintf(opts.Out, "plan %q (id %d) of project %q: %d suites and %d cases, of which %d and %d are new, in %s\n",
		plan.Name, plan.ID, plan.Project, len(t.nodes), t.cases, w.newSuites, w.newCases, time.Since(start).Round(10*time.Millisecond))
	warn(opts.Out, t.warnings)
	return nil
}

// warn lists what the import left out.
func warn(out io.Writer, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	_, _ = fmt.Fprintf(out, "%d warnings:\n", len(warnings))
	for _, w := range warnings[:min(len(warnings), shownWarnings)] {
		_, _ = fmt.Fprintf(out, "  %s\n", w)
	}
	if more := len(warnings) - shownWarnings; more > 0 {
		_, _ = fmt.Fprintf(out, "  and %d more\n", more)
	}
}

// findOrCreate returns the plan, even if another import creates it at the same moment.
func findOrCreate(ctx context.Context, service *plans.Service, project, name string) (model.Plan, error) {
	for range 3 {
		existing, err := service.Plans(ctx, project)
		if err != nil {
			return model.Plan{}, err
		}
		if i := slices.IndexFunc(existing, func(p model.Plan) bool { return p.Name == name }); i >= 0 {
			return existing[i], nil
		}
		plan, err := service.CreatePlan(ctx, project, name)
		if !errors.Is(err, plans.ErrNameTaken) {
			return plan, err
		}
	}
	return model.Plan{}, fmt.Errorf("%w: %q", plans.ErrNameTaken, name)
}
