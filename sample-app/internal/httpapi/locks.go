package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// namesOf returns the lock domain of plan names, whose ids are projects, that belongs to a
// domain of plans' trees.
func namesOf(namespace string) string { return namespace + "-names" }

// CheckNamespace reports whether the locks of plans and of plan names differ from others' by a
// namespace.
func CheckNamespace(namespace string) error {
	if namespace == "" {
		return nil // the default
	}
	_, err := pathlock.NewTree(namesOf(namespace), "0")
	return err
}

// The kinds of ids beside those of suites, which are the default.
const (
	kindPlan = "plan"
	kindCase = "case"
	kindItem = "item"
)

// table says what each route locks. That it is complete is checked when the engine is made.
//
// A change is asserted where all that it writes to the nodes that it locks goes through the plugin,
// and nothing that it reads under the locks has to stay as it is. A copy rests on its source, a
// restoration on what the item says of its old place, an edit of a case's body on the lock alone.
func (a *api) table() (lockspec.Table, error) {
	var (
		names = namesOf(a.Namespace)
		suite = lockspec.Param("id")
		leaf  = lockspec.Param("id").Kind(kindCase)
		plan  = lockspec.Param("plan").Kind(kindPlan)
		item  = lockspec.Param("item").Kind(kindItem)
		name  = lockspec.JSON("name")
		// The name gate of the project that the plan in the URL is in.
		planNames = lockspec.Names(names, lockspec.Func("project", projectOf(a.Service)))
	)
	asserted := lockspec.Spec.Asserted
	if !a.Asserted {
		asserted = func(s lockspec.Spec) lockspec.Spec { return s }
	}
	table := lockspec.Table{
		"POST /api/projects/:project/plans": lockspec.Names(names, lockspec.Param("project")).Note("create a plan"),
		"PATCH /api/plans/:plan":            lockspec.All(planNames, lockspec.Gate(plan)).Note("rename the plan"),
		"DELETE /api/plans/:plan":           lockspec.All(planNames, lockspec.Gate(plan)).Note("delete the plan"),

		"POST /api/recycle-bin/:item/restore": lockspec.Slot(item).Note("restore from the recycle bin"),
		"DELETE /api/plans/:plan/recycle-bin": lockspec.None("touches no live path"),
		"GET /api/plans/:plan/fsck":           lockspec.Read(plan).Note("check the plan"),

		// What outlives a request cannot be taken around its handler.
		"POST /api/suites/:id/lock":   lockspec.None("the handler takes suiteLock, and detaches it"),
		"PUT /api/suites/:id/lock":    lockspec.None("the token says what is locked"),
		"DELETE /api/suites/:id/lock": lockspec.None("the token says what is locked"),
	}
	for route, change := range map[string]struct {
		spec lockspec.Spec
		node lockspec.Source
		note string
	}{
		"POST /api/plans/:plan/suites": {asserted(lockspec.Insert(lockspec.JSON("parent_id"), name)), lockspec.JSON("parent_id"), "create a suite"},
		"PATCH /api/suites/:id":        {asserted(lockspec.Rename(suite, name)), suite, "rename a suite"},
		"POST /api/suites/:id/move":    {asserted(lockspec.Move(suite, lockspec.JSON("parent_id"))), suite, "move a suite"},
		"POST /api/suites/:id/copy":    {lockspec.Copy(suite, lockspec.JSON("parent_id"), name), suite, "copy a suite"},
		"DELETE /api/suites/:id":       {asserted(lockspec.Delete(suite)), suite, "delete a suite"},

		"POST /api/suites/:id/cases": {asserted(lockspec.Insert(suite, name)), suite, "create a case"},
		"PATCH /api/cases/:id":       {lockspec.Rename(leaf, name.Optional()), leaf, "edit a case"},
		"POST /api/cases/:id/move":   {asserted(lockspec.Move(leaf, lockspec.JSON("suite_id"))), leaf, "move a case"},
		"POST /api/cases/:id/copy":   {lockspec.Copy(leaf, lockspec.JSON("suite_id"), name), leaf, "copy a case"},
		"DELETE /api/cases/:id":      {asserted(lockspec.Delete(leaf)), leaf, "delete a case"},
	} {
		spec, err := a.Rule.apply(change.spec, change.node)
		if err != nil {
			return nil, err
		}
		table[route] = spec.Note(change.note)
	}
	return table, nil
}

// resolvers find the nodes that ids of other kinds than the default mean.
func resolvers(service *plans.Service, namespace string, cases pathlock.Resolver) map[string]pathlock.Resolver {
	return map[string]pathlock.Resolver{
		kindCase: cases,
		kindItem: pathlock.ResolverFunc(service.RestoreLocation),
		kindPlan: pathlock.ResolverFunc(func(ctx context.Context, id string) (pathlock.Location, error) {
			plan, err := service.Plan(ctx, parsed(id))
			if err != nil {
				return pathlock.Location{}, err
			}
			tree, err := pathlock.NewTree(namespace, strconv.FormatInt(plan.ID, 10))
			return pathlock.Location{Tree: tree, Path: pathlock.Root()}, err
		}),
	}
}

// projectOf finds the project of the plan in the URL. A plan never changes its project.
func projectOf(service *plans.Service) lockspec.Extract {
	return func(r *http.Request, param func(string) string) (string, bool, error) {
		plan, err := service.Plan(r.Context(), parsed(param("plan")))
		if err != nil {
			return "", false, fmt.Errorf("the plan's project: %w", err)
		}
		return plan.Project, true, nil
	}
}
