package lockspec_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/operation"
	"github.com/pathlock-go/pathlock/lockspec"
)

// path is MustParsePath, for tables.
func path(s string) pathlock.Path { return pathlock.MustParsePath(s) }

// text writes claims as the tables do: "X /a, IX /a/b".
func text(claims []pathlock.Claim) string {
	parts := make([]string, len(claims))
	for i, c := range claims {
		parts[i] = c.String()
	}
	return strings.Join(parts, ", ")
}

// The table of the design, row by row.
func TestClaims(t *testing.T) {
	node, dest := path("/a/b"), path("/d")
	for _, c := range []struct {
		what                      string
		op                        operation.Operation
		nameSlot, parentExclusive string
	}{
		{"insert", operation.Operation{Kind: operation.Insert, Dest: dest, Name: "n"}, "X /d/n", "X /d"},
		{"insert at the top", operation.Operation{Kind: operation.Insert, Name: "n"}, "X /n", "X /"},
		{"insert, name unknown", operation.Operation{Kind: operation.Insert, Dest: dest}, "X /d", "X /d"},
		{"insert, no name at all", operation.Operation{Kind: operation.Insert, Dest: dest, Name: "a/b"}, "X /d", "X /d"},
		{"rename", operation.Operation{Kind: operation.Rename, Node: node, Name: "n"}, "X /a/b, X /a/n", "X /a/b, X /a"},
		{"rename at the top", operation.Operation{Kind: operation.Rename, Node: dest, Name: "n"}, "X /d, X /n", "X /d, X /"},
		{"rename, name unknown", operation.Operation{Kind: operation.Rename, Node: node}, "X /a/b, X /a", "X /a/b, X /a"},
		{"rename to its own name", operation.Operation{Kind: operation.Rename, Node: node, Name: "b"}, "X /a/b", "X /a/b, X /a"},
		{"move", operation.Operation{Kind: operation.Move, Node: node, Dest: dest}, "X /a/b, X /d/b", "X /a/b, X /d"},
		{"move under a new name", operation.Operation{Kind: operation.Move, Node: node, Dest: dest, Name: "n"}, "X /a/b, X /d/n", "X /a/b, X /d"},
		{"move to where it is", operation.Operation{Kind: operation.Move, Node: node, Dest: path("/a")}, "X /a/b", "X /a/b, X /a"},
		{"copy", operation.Operation{Kind: operation.Copy, Node: node, Dest: dest, Name: "n"}, "S /a/b, X /d/n", "S /a/b, X /d"},
		{"copy, name unknown", operation.Operation{Kind: operation.Copy, Node: node, Dest: dest}, "S /a/b, X /d", "S /a/b, X /d"},
		{"copy from a snapshot", operation.Operation{Kind: operation.Copy, Node: node, Dest: dest, Name: "n", Snapshot: true}, "X /d/n", "X /d"},
		{"copy into itself", operation.Operation{Kind: operation.Copy, Node: path("/a"), Dest: node, Name: "n"}, "S /a, X /a/b/n", "S /a, X /a/b"},
		{"delete", operation.Operation{Kind: operation.Delete, Node: node}, "X /a/b", "X /a/b"},
		{"edit", operation.Operation{Kind: operation.Edit, Node: node}, "IX /a/b", "IX /a/b"},
		{"read", operation.Operation{Kind: operation.Read, Node: node}, "S /a/b", "S /a/b"},
		{"slot", operation.Operation{Kind: operation.Slot, Node: node}, "X /a/b", "X /a/b"},
		{"the whole plan", operation.Operation{Kind: operation.Gate}, "X /", "X /"},
		{"nothing", operation.Operation{}, "", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := text(c.op.Claims(operation.NameSlot)); got != c.nameSlot {
				t.Errorf("name-slot: got %q, want %q", got, c.nameSlot)
			}
			if got := text(c.op.Claims(operation.ParentExclusive)); got != c.parentExclusive {
				t.Errorf("parent-exclusive: got %q, want %q", got, c.parentExclusive)
			}
		})
	}
}

func TestNamesOfConstants(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{operation.Insert.String(), "insert"},
		{operation.Gate.String(), "gate"},
		{operation.Kind(0).String(), "Kind(0)"},
		{operation.Kind(99).String(), "Kind(99)"},
		{lockspec.FromJSON.String(), "json"},
		{lockspec.From(0).String(), "From(0)"},
		{lockspec.From(99).String(), "From(99)"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

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
