package httpapi

import (
	"fmt"

	"github.com/pathlock-go/pathlock/lockspec"
)

// Rule is how much of a plan's tree the routes of suites and cases lock. All instances on a
// database may have different ones. The rules other than [NameSlots] exist to be compared with it.
type Rule string

// The rules.
const (
	// NameSlots locks a node and the slot of its new name. It is the default, as is "".
	NameSlots Rule = "name-slots"
	// ParentExclusive locks the whole parent in the place of the slot.
	ParentExclusive Rule = "parent-exclusive"
	// WholePlan locks the plan.
	WholePlan Rule = "whole-plan"
)

// apply returns what a change locks by the rule. node is the node of the change, or the parent of a
// new one.
func (r Rule) apply(change lockspec.Spec, node lockspec.Source) (lockspec.Spec, error) {
	switch r {
	case "", NameSlots:
		return change, nil
	case ParentExclusive:
		return change.ParentExclusive(), nil
	case WholePlan:
		gate := lockspec.Gate(node)
		if change.IsAsserted() {
			gate = gate.Asserted()
		}
		return gate, nil
	default:
		return lockspec.Spec{}, fmt.Errorf("httpapi: there is no lock rule %q: it is %s, %s or %s", r, NameSlots, ParentExclusive, WholePlan)
	}
}
