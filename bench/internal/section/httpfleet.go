package section

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/sampleapp"
)

// instances is the number of instances of a contender.
const instances = 3

// fleet is a contender: instances of the sample app on a database of their own, and a plan in it.
type fleet struct {
	protection protection
	instances  []*sampleapp.Instance
	drop       func(context.Context) error
	http       *http.Client

	plan int64
	// folders hold the leaves.
	folders, leaves []int64
	// turn counts the turns, so that no name is used twice.
	turn int
}

// startFleet starts the instances, and creates the plan.
func startFleet(ctx context.Context, env *Env, server *durable, program *sampleapp.Program, p protection) (*fleet, error) {
	url, drop, err := server.create(ctx)
	if err != nil {
		return nil, err
	}
	f := &fleet{protection: p, drop: drop, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crowds[len(crowds)-1]}}}
	locks := "off://"
	if p.locks {
		locks = env.URL
	}
	flags := append([]string{"--db", url, "--locks", locks, "--namespace", "bench-" + rand.Text()[:8]}, p.flags...)
	for range instances {
		i, err := program.Serve(ctx, flags...)
		if err != nil {
			return nil, errors.Join(err, f.stop(ctx))
		}
		f.instances = append(f.instances, i)
	}
	if err := f.fill(ctx, env.Plan.Leaves); err != nil {
		return nil, errors.Join(err, f.stop(ctx))
	}
	return f, nil
}

// stop stops the instances and drops their database.
func (f *fleet) stop(ctx context.Context) error {
	f.http.CloseIdleConnections()
	errs := make([]error, len(f.instances))
	var ending sync.WaitGroup
	for n, i := range f.instances {
		ending.Go(func() { errs[n] = i.Stop() })
	}
	ending.Wait()
	return errors.Join(append(errs, f.drop(ctx))...)
}

// The shape of the plan: folders, folders in these, and leaves in those.
const (
	topFolders  = 8
	folderSizes = 8
)

// fill creates the plan with a number of leaves, one request after the other.
func (f *fleet) fill(ctx context.Context, leaves int) error {
	var plan struct {
		ID     int64 `json:"id"`
		RootID int64 `json:"root_id"`
	}
	if err := f.make(ctx, change{http.MethodPost, "/api/projects/bench/plans", map[string]any{"name": "plan"}}, &plan); err != nil {
		return err
	}
	f.plan = plan.ID
	below := func(parents []int64, name string, n int) (made []int64, err error) {
		for i := range n {
			var suite struct {
				ID int64 `json:"id"`
			}
			if err := f.make(ctx, f.create(parents[i%len(parents)], fmt.Sprint(name, "-", i)), &suite); err != nil {
				return nil, err
			}
			made = append(made, suite.ID)
		}
		return made, nil
	}
	tops, err := below([]int64{plan.RootID}, "area", topFolders)
	if err != nil {
		return err
	}
	if f.folders, err = below(tops, "folder", max(leaves/folderSizes, 2)); err != nil {
		return err
	}
	f.leaves, err = below(f.folders, "leaf", leaves)
	return err
}

// check lets the sample app check the plan of a protected contender.
func (f *fleet) check(ctx context.Context) error {
	if !f.protection.asserts {
		return nil
	}
	var found struct {
		Problems []any `json:"problems"`
	}
	err := f.make(ctx, change{http.MethodGet, fmt.Sprintf("/api/plans/%d/fsck", f.plan), nil}, &found)
	if err == nil && len(found.Problems) > 0 {
		err = fmt.Errorf("%s: the tree is broken: %v", f.protection.name, found.Problems[0])
	}
	return err
}

// statementsOfChanges counts the statements for a change of each kind, one request after the other.
func statementsOfChanges(ctx context.Context, server *durable, fleets []*fleet) (report.Table, error) {
	const each = 10
	var rows []string
	var counts [][]float64
	for kind := range changeKinds {
		for _, f := range fleets {
			c := f.client(kind)
			before, err := server.statements(ctx)
			if err != nil {
				return report.Table{}, err
			}
			for range each {
				if err := f.make(ctx, c.next(changeKind(kind)), nil); err != nil {
					return report.Table{}, fmt.Errorf("%s: %w", f.protection.name, err)
				}
			}
			after, err := server.statements(ctx)
			if err != nil {
				return report.Table{}, err
			}
			rows = append(rows, fmt.Sprintf("%s, %s", changeKind(kind), f.protection.name))
			// The second reading is a statement, too.
			counts = append(counts, []float64{float64(after[allStatements]-before[allStatements]-1) / each})
		}
	}
	return report.NewTable("changes", "statements for a change, one request after the other, BEGIN and COMMIT included", "statements", "", rows, counts), nil
}
