package importer

import (
	"context"
	"errors"
	"slices"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// attempts is how often the writer tries a batch while another import adds the same names.
const attempts = 5

// slot is a name below a suite.
type slot struct {
	parent int64
	name   string
}

// writer adds to a plan the suites and cases that it lacks.
type writer struct {
	service  *plans.Service
	plan     model.Plan
	progress progress

	// suites and cases are those that the plan has.
	suites map[slot]int64
	cases  map[slot]bool

	newSuites, newCases int
}

// write adds the tree's suites level by level, then its cases.
func (w *writer) write(ctx context.Context, t *tree) error {
	if err := w.look(ctx); err != nil {
		return err
	}
	t.root.id = w.plan.RootID
	for rest := t.nodes; len(rest) > 0; {
		end := slices.IndexFunc(rest, func(n *node) bool { return n.depth != rest[0].depth })
		if end < 0 {
			end = len(rest)
		}
		for some := range slices.Chunk(rest[:end], batch) {
			if err := w.retry(ctx, func() error { return w.addSuites(ctx, some) }); err != nil {
				return err
			}
			w.progress.add(len(some))
		}
		rest = rest[end:]
	}
	return w.writeCases(ctx, t)
}

// writeCases adds the cases in batches, each of which may span several suites.
func (w *writer) writeCases(ctx context.Context, t *tree) error {
	rows := make([]model.Case, 0, t.cases)
	for _, n := range t.nodes {
		for _, c := range n.cases {
			rows = append(rows, model.Case{SuiteID: n.id, Name: c.name, Body: c.body})
		}
	}
	for some := range slices.Chunk(rows, batch) {
		if err := w.retry(ctx, func() error { return w.addCases(ctx, some) }); err != nil {
			return err
		}
		w.progress.add(len(some))
	}
	return nil
}

// look reads what the plan has.
func (w *writer) look(ctx context.Context) error {
	suites, err := w.service.Tree(ctx, w.plan.ID)
	if err != nil {
		return err
	}
	cases, err := w.service.AllCases(ctx, w.plan.ID)
	if err != nil {
		return err
	}
	w.suites, w.cases = make(map[slot]int64, len(suites)), make(map[slot]bool, len(cases))
	for _, s := range suites {
		if s.ParentID != nil {
			w.suites[slot{*s.ParentID, s.Name}] = s.ID
		}
	}
	for _, c := range cases {
		w.cases[slot{c.SuiteID, c.Name}] = true
	}
	return nil
}

// retry runs add. If another import was faster, it looks again and repeats add.
func (w *writer) retry(ctx context.Context, add func() error) error {
	var err error
	for range attempts {
		if err = add(); !errors.Is(err, plans.ErrNameTaken) {
			return err
		}
		if err := w.look(ctx); err != nil {
			return err
		}
	}
	return err
}

// addSuites adds the nodes that the plan lacks. Their parents exist.
func (w *writer) addSuites(ctx context.Context, nodes []*node) error {
	var rows []model.Suite
	var missing []*node
	for _, n := range nodes {
		if n.id = w.suites[slot{n.parent.id, n.name}]; n.id != 0 {
			continue
		}
		rows = append(rows, model.Suite{PlanID: w.plan.ID, ParentID: &n.parent.id, Name: n.name, Version: 1})
		missing = append(missing, n)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := w.service.AddSuites(ctx, rows); err != nil {
		return err
	}
	for i, n := range missing {
		n.id = rows[i].ID
	}
	w.newSuites += len(rows)
	return nil
}

// addCases adds the cases that the plan lacks.
func (w *writer) addCases(ctx context.Context, all []model.Case) error {
	has := func(c model.Case) bool { return w.cases[slot{c.SuiteID, c.Name}] }
	rows := slices.DeleteFunc(slices.Clone(all), has)
	if len(rows) == 0 {
		return nil
	}
	if err := w.service.AddCases(ctx, rows); err != nil {
		return err
	}
	w.newCases += len(rows)
	return nil
}
