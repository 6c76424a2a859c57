package section

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/sampleapp"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// protection is how the instances of the sample app keep a plan's tree right.
type protection struct {
	name  string
	flags []string
	// locks says that they have a lock store, and asserts that the plugin asserts their writes.
	locks, asserts bool
}

// The protections.
const (
	unprotected     = "unprotected"
	assertionAlone  = "assertion alone"
	wholePlan       = "one lock per plan"
	parentExclusive = "parent-exclusive"
	nameSlots       = "name slots"
)

func protections() []protection {
	return []protection{
		{unprotected, []string{"--assert=false"}, false, false},
		{assertionAlone, nil, false, true},
		{wholePlan, []string{"--rule", "whole-plan"}, true, true},
		{parentExclusive, []string{"--rule", "parent-exclusive"}, true, true},
		{nameSlots, []string{"--rule", "name-slots"}, true, true},
	}
}

// crowds are the numbers of concurrent clients.
var crowds = []int{8, 32}

// httpChanges measures what users of the sample app notice: changes of one plan over HTTP, on three
// instances.
func httpChanges(ctx context.Context, env *Env) (_ result, err error) {
	server, err := openDurable(ctx, env)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, server.close(context.WithoutCancel(ctx))) }()
	program, err := sampleapp.Build(ctx)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, program.Remove()) }()
	var fleets []*fleet
	defer func() {
		for _, f := range fleets {
			err = errors.Join(err, f.stop(context.WithoutCancel(ctx)))
		}
	}()
	for _, p := range protections() {
		f, err := startFleet(ctx, env, server, program, p)
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", p.name, err)
		}
		fleets = append(fleets, f)
	}
	r := result{notes: []string{
		fmt.Sprintf("%d instances, one plan of %d leaves for each contender; random creates, renames, moves and cases. Clients, instances, MariaDB and Redis share this machine", instances, env.Plan.Leaves),
		server.durability,
	}}
	byKind, err := statementsOfChanges(ctx, server, fleets)
	if err != nil {
		return result{}, err
	}
	r.tables = append(r.tables, byKind)
	for _, clients := range crowds {
		m, err := measureCrowd(ctx, env, server, fleets, clients)
		if err != nil {
			return result{}, fmt.Errorf("%d clients: %w", clients, err)
		}
		tables, targets, err := m.judged(clients)
		if err != nil {
			return result{}, err
		}
		r.tables, r.targets = append(r.tables, tables...), append(r.targets, targets...)
	}
	for _, f := range fleets {
		if err := f.check(ctx); err != nil {
			return result{}, err
		}
	}
	return r, nil
}

// crowdMeasured has the measurements with one number of clients, by contender and round.
type crowdMeasured struct {
	names                                                []string
	throughput, median, slowest, refused, cpu, serverCPU *stats.Samples
	// counted are the statements of one change, by kind.
	counted map[string]*stats.Samples
}

// measureCrowd gives each contender its turns.
func measureCrowd(ctx context.Context, env *Env, server *durable, fleets []*fleet, clients int) (*crowdMeasured, error) {
	rounds, n := env.Plan.Rounds, len(fleets)
	samples := func() *stats.Samples { return stats.NewSamples(rounds, n) }
	m := &crowdMeasured{
		throughput: samples(), median: samples(), slowest: samples(), refused: samples(), cpu: samples(), serverCPU: samples(),
		counted: make(map[string]*stats.Samples),
	}
	for _, kind := range statementKinds() {
		m.counted[kind] = samples()
	}
	for _, f := range fleets {
		m.names = append(m.names, f.protection.name)
		// The first turn of each contender does not count.
		if _, err := f.drive(ctx, clients, env.Plan.ChangeTurn/5); err != nil {
			return nil, fmt.Errorf("%s: %w", f.protection.name, err)
		}
	}
	err := stats.Turns(ctx, rounds, 1, n, func(round, i int) error {
		f := fleets[i]
		before, err := server.read(ctx, f)
		if err != nil {
			return err
		}
		done, err := f.drive(ctx, clients, env.Plan.ChangeTurn)
		if err != nil {
			return fmt.Errorf("%s: %w", f.protection.name, err)
		}
		after, err := server.read(ctx, f)
		if err != nil {
			return err
		}
		if len(done.took) == 0 {
			return fmt.Errorf("%s: no change was made", f.protection.name)
		}
		changes := float64(len(done.took))
		m.throughput.Add(round, i, changes/done.elapsed.Seconds())
		slices.Sort(done.took)
		m.median.Add(round, i, milliseconds(done.took[len(done.took)/2]))
		m.slowest.Add(round, i, milliseconds(done.took[len(done.took)*99/100]))
		m.refused.Add(round, i, 1000*float64(done.refused)/(changes+float64(done.refused)))
		m.cpu.Add(round, i, milliseconds(after.cpu-before.cpu)/changes)
		m.serverCPU.Add(round, i, milliseconds(after.serverCPU-before.serverCPU)/changes)
		for kind, counted := range m.counted {
			counted.Add(round, i, float64(after.statements[kind]-before.statements[kind])/changes)
		}
		return nil
	})
	return m, err
}

// judged makes tables and targets of the measurements.
func (m *crowdMeasured) judged(clients int) ([]report.Table, []report.Target, error) {
	table := func(id, title, unit, baseline string, s *stats.Samples) report.Table {
		return report.NewTable(fmt.Sprintf("%s-%d", id, clients), fmt.Sprintf("%s, %d clients", title, clients), unit, baseline, m.names, s.Medians())
	}
	throughput := table("throughput", "changes a second", "/s", unprotected, m.throughput)
	slowest := table("p99", "99 of 100 changes take at most", "ms", unprotected, m.slowest)
	tables := []report.Table{
		throughput,
		table("p50", "the median change takes", "ms", unprotected, m.median),
		slowest,
		table("refused", "of 1000 requests, answered by 409 or 423", "requests", "", m.refused),
		table("cpu", "processor time of the instances for a change", "ms", unprotected, m.cpu),
		table("server-cpu", "processor time of MariaDB for a change (0 on a server of somebody else's)", "ms", "", m.serverCPU),
		table("statements", "statements for a change", "statements", unprotected, m.counted[allStatements]),
	}
	var rows []string
	var perKind [][]float64
	kinds := slices.Sorted(maps.Keys(m.counted))
	for i, name := range m.names {
		for _, kind := range kinds {
			if kind != allStatements && (name == unprotected || name == nameSlots) {
				rows = append(rows, name+", "+kind)
				perKind = append(perKind, m.counted[kind].Medians()[i])
			}
		}
	}
	tables = append(tables, report.NewTable(fmt.Sprintf("kinds-%d", clients), fmt.Sprintf("statements for a change, by kind, %d clients", clients), "statements", "", rows, perKind))

	var targets []report.Target
	for _, goal := range []struct {
		id, what string
		of       report.Table
		baseline string
		relation report.Relation
		limit    float64
	}{
		{"slots-unprotected", "changes a second with name slots against no protection", throughput, unprotected, report.AtLeast, 0.8},
		{"slots-plan", "changes a second with name slots against one lock per plan", throughput, wholePlan, report.AtLeast, 3},
		{"slots-p99", "99th percentile with name slots against no protection", slowest, unprotected, report.AtMost, 1.5},
	} {
		ratio, err := goal.of.Ratio(nameSlots, goal.baseline)
		if err != nil {
			return nil, nil, err
		}
		targets = append(targets, report.Target{
			ID: fmt.Sprintf("%s-%d", goal.id, clients), What: fmt.Sprintf("%s, %d clients", goal.what, clients),
			Relation: goal.relation, Limit: goal.limit, Measured: ratio,
		})
	}
	return tables, targets, nil
}

func milliseconds(d time.Duration) float64 { return microseconds(d) / 1000 }
