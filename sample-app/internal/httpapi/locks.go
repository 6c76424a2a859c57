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

// namesOf returns the namespace in which plan names are locked, beside a namespace of plans' trees.
// Its trees are the projects.
func namesOf(namespace string) string { return namespace + "-names" }

// CheckNamespace says why a namespace cannot be that of plans, or of their names.
func CheckNamespace(namespace string) error {
	if namespace == "" {
		return nil // means the default
	}
	_, err := pathlock.NewTree(namesOf(namespace), "0")
	return err
}

// The kinds of ids. An id without a kind is a suite's.
const (
	kindPlan = "plan"
	kindCase = "case"
	kindItem = "item"
)

// table says what each route locks. [New] checks that it is complete.
//
// A change is asserted if it writes to the locked nodes through the plugin alone, and if nothing
// that it reads under the locks has to stay the same. So three are not asserted: a copy depends on
// its source, a restoration on the item's old place, and an edit of a case's body on the lock
// alone.
func (a *api) table() lockspec.Table {
	var (
		names = namesOf(a.Namespace)
		suite = lockspec.Param("id")
		leaf  = lockspec.Param("id").Kind(kindCase)
		plan  = lockspec.Param("plan").Kind(kindPlan)
		item  = lockspec.Param("item").Kind(kindItem)
		name  = lockspec.JSON("name")
		// The name gate of the project that the plan in the URL is in.
		planNames = lockspec.Names(names, projectOf(a.Service))
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

		// The plugin locks the names that each statement creates.
		"POST " + importPath: lockspec.Edit(plan).Note("import into the plan"),

		"POST /admin/locks/*any": lockspec.None("an operator releases locks, and writes no tree"),

		// Locks around a handler end with it, and these have to outlive the request.
		"POST /api/suites/:id/lock":   lockspec.None("the handler takes suiteLock and detaches it"),
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
		table[route] = a.Rule.apply(change.spec, change.node).Note(change.note)
	}
	return table
}

// Rule is how much of a plan's tree a change of suites and cases locks. Instances on one database
// may have different rules. Those other than [NameSlots] exist for comparison.
type Rule string

// The rules.
const (
	// NameSlots locks a node and the slot of its new name. It is the default, as is "".
	NameSlots Rule = "name-slots"
	// ParentExclusive locks the whole parent instead of the slot.
	ParentExclusive Rule = "parent-exclusive"
	// WholePlan locks the plan.
	WholePlan Rule = "whole-plan"
)

// apply returns what a change locks under the rule. node is the node that changes, or the parent of
// a new one.
func (r Rule) apply(change lockspec.Spec, node lockspec.Source) lockspec.Spec {
	switch r {
	case ParentExclusive:
		return change.ParentExclusive()
	case WholePlan:
		gate := lockspec.Gate(node)
		if change.IsAsserted() {
			gate = gate.Asserted()
		}
		return gate
	default:
		return change
	}
}

// resolvers find the nodes of ids that have a kind.
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
func projectOf(service *plans.Service) lockspec.Source {
	return lockspec.Func("project", func(r *http.Request, param func(string) string) (string, bool, error) {
		plan, err := service.Plan(r.Context(), parsed(param("plan")))
		if err != nil {
			return "", false, fmt.Errorf("the plan's project: %w", err)
		}
		return plan.Project, true, nil
	})
}
