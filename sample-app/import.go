package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

type importCommand struct {
	backend
	Project string   `help:"Project of the plan." default:"default"`
	Plan    string   `help:"Plan to import into. It is created if it does not exist." required:""`
	Exclude []string `help:"Names of directories to leave out." default:".git,.hg,.svn"`
	Dir     string   `arg:"" help:"Directory to import."`
}

// Validate refuses a plan or a project that cannot be created. kong calls it beside the backend's
// own.
func (c *importCommand) Validate() error {
	err := errors.Join(c.backend.Validate(), plans.CheckProject(c.Project))
	if flaw := plans.CheckName(c.Plan); flaw != nil {
		err = errors.Join(err, fmt.Errorf("--plan: %w", flaw))
	}
	return err
}

// Run implements the command.
func (c *importCommand) Run(ctx context.Context, streams streams) error {
	i, err := instance.Open(ctx, c.config(streams.log))
	if err != nil {
		return err
	}
	return errors.Join(c.load(ctx, i.Service, streams.out), i.Close())
}

// batch is how many names are imported at once: few enough that users do not wait long for the
// locks, enough for thousands of rows a second.
const batch = 250

// load imports the directory tree into the plan, and creates the plan if it does not exist. It can
// be interrupted at any point and run again: it keeps what is there, and adds what is missing.
func (c *importCommand) load(ctx context.Context, service *plans.Service, out io.Writer) error {
	start := time.Now()
	_, _ = fmt.Fprintf(out, "reading %s\n", c.Dir)
	names, err := c.scan(ctx, out)
	if err != nil {
		return fmt.Errorf("import %s: %w", c.Dir, err)
	}
	plan, err := findOrCreate(ctx, service, c.Project, c.Plan)
	if err != nil {
		return fmt.Errorf("import into plan %q: %w", c.Plan, err)
	}
	bar := progressbar.NewOptions(len(names.Suites)+len(names.Cases), progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(shown.OnTerminal(out)), progressbar.OptionSetDescription("importing"),
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
			return fmt.Errorf("import into plan %q (run it again to continue): %w", c.Plan, err)
		}
		made.Suites, made.Cases = made.Suites+added.Suites, made.Cases+added.Cases
		_ = bar.Add(len(some.Suites) + len(some.Cases)) // an import goes on even if the bar cannot be drawn
	}
	_ = bar.Exit()
	_, _ = fmt.Fprintf(out, "plan %q (id %d) of project %q: %s and %s, of which %d and %d are new, in %s\n",
		plan.Name, plan.ID, plan.Project, shown.Count(len(names.Suites), "suite", "suites"), shown.Count(len(names.Cases), "case", "cases"), made.Suites, made.Cases, time.Since(start).Round(10*time.Millisecond))
	return nil
}

// findOrCreate returns the plan, and creates it if there is none.
func findOrCreate(ctx context.Context, service *plans.Service, project, name string) (plans.Plan, error) {
	existing, err := service.Plans(ctx, project)
	if err != nil {
		return plans.Plan{}, err
	}
	if i := slices.IndexFunc(existing, func(p plans.Plan) bool { return p.Name == name }); i >= 0 {
		return existing[i], nil
	}
	return service.CreatePlan(ctx, project, name)
}

// scan finds the suites and cases in a directory tree. It says what it leaves out, but for the
// directories that are excluded.
func (c *importCommand) scan(ctx context.Context, out io.Writer) (names plans.Import, err error) {
	if info, err := os.Stat(c.Dir); err != nil {
		return names, err
	} else if !info.IsDir() {
		return names, fmt.Errorf("%s is not a directory", c.Dir)
	}
	root := os.DirFS(c.Dir)
	leaveOut := func(at string, entry fs.DirEntry, why error) error {
		_, _ = fmt.Fprintf(out, "left out: %q: %v\n", at, why)
		if entry != nil && entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	err = fs.WalkDir(root, ".", func(at string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return leaveOut(at, entry, err)
		case at == "." || !entry.IsDir() && !isTestFile(entry):
			return nil
		case entry.IsDir() && slices.Contains(c.Exclude, entry.Name()):
			return fs.SkipDir
		}
		if err := plans.CheckName(entry.Name()); err != nil {
			return leaveOut(at, entry, fmt.Errorf("its name %w", err))
		}
		switch depth := strings.Count(at, "/") + 1; {
		case !entry.IsDir():
			names.Cases = append(names.Cases, plans.ImportedCase{Path: at, Body: at})
		case depth > plans.MaxDepth:
			return leaveOut(at, entry, fmt.Errorf("it lies more than %d directories deep", plans.MaxDepth))
		default:
			names.Suites = append(names.Suites, at)
		}
		return nil
	})
	return names, err
}

// isTestFile reports whether an entry is a file of tests and not a link to one.
func isTestFile(entry fs.DirEntry) bool {
	return entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), "_test.go")
}
