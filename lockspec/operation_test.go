package lockspec_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
)

// anyName draws from few names, so that operations meet.
func anyName() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a", "b", "a-b", "c", "ä"})
}

func anyPath() *rapid.Generator[pathlock.Path] {
	return rapid.Custom(func(t *rapid.T) pathlock.Path {
		var s strings.Builder
		for _, name := range rapid.SliceOfN(anyName(), 0, 5).Draw(t, "names") {
			s.WriteString("/" + name)
		}
		return path(s.String())
	})
}

func anyOperation() *rapid.Generator[operation.Operation] {
	return rapid.Custom(func(t *rapid.T) operation.Operation {
		return operation.Operation{
			Kind:     operation.Kind(rapid.IntRange(int(operation.Insert), int(operation.Gate)).Draw(t, "kind")),
			Node:     anyPath().Draw(t, "node"),
			Dest:     anyPath().Draw(t, "dest"),
			Name:     rapid.OneOf(anyName(), rapid.Just("")).Draw(t, "name"),
			Snapshot: rapid.Bool().Draw(t, "snapshot"),
		}
	})
}

func anyRule() *rapid.Generator[operation.Rule] {
	return rapid.SampledFrom([]operation.Rule{operation.NameSlot, operation.ParentExclusive})
}

// The name-slot rule never locks more than the parent-exclusive rule: each claim is covered by one
// on the same node or on one above it.
func TestNameSlotNeverLocksMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := anyOperation().Draw(t, "operation")
		coarse := op.Claims(operation.ParentExclusive)
		for _, c := range pathlock.Normalize(op.Claims(operation.NameSlot)...) {
			covered := slices.ContainsFunc(pathlock.Normalize(coarse...), func(by pathlock.Claim) bool {
				return by.Path == c.Path && by.Mode.Covers(c.Mode) ||
					by.Path != c.Path && by.Path.Contains(c.Path) && by.Mode.CoversBelow(c.Mode)
			})
			if !covered {
				t.Errorf("%s is claimed by the name-slot rule, and %q by the other", c, text(coarse))
			}
		}
	})
}

// Two operations that conflict by the name-slot rule do so by any mix of rules.
func TestACoarserRuleNeverConflictsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyOperation().Draw(t, "a"), anyOperation().Draw(t, "b")
		ruleA, ruleB := anyRule().Draw(t, "rule of a"), anyRule().Draw(t, "rule of b")
		if conflict(a.Claims(operation.NameSlot), b.Claims(operation.NameSlot)) && !conflict(a.Claims(ruleA), b.Claims(ruleB)) {
			t.Errorf("%+v and %+v conflict by the name-slot rule, and not by %d and %d", a, b, ruleA, ruleB)
		}
	})
}
