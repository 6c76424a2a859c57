package treeschema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// shape is what a table is besides columns, indexes and what is written on top of them.
type shape struct {
	// kind says what the name stands for where that is no table: "a view".
	kind string
	// temporary is set for a table that this session alone has.
	temporary bool
	// security is set where a policy hides rows from this user, by columns other than the tree's
	// id.
	security bool
	policies map[string][]string
	// heirs are tables that inherit from it, ancestors those that it inherits from, where they are
	// no partitions.
	heirs, ancestors string
	// partitionOf is the table whose partition it is.
	partitionOf string
	// subscriptions are those that write its rows.
	subscriptions string
	rules         []rule
	// conflicts are clauses by which a conflict is no plain error: "ON CONFLICT REPLACE".
	conflicts []string
}

// rule rewrites statements on a table.
type rule struct {
	name, text string
	instead    bool
}

// isTable checks that the name stands for a table that all sessions see.
func (c *checker) isTable() bool {
	s := c.physical.shape
	if s.kind != "" {
		c.found(Finding{
			Severity: Unsafe, Check: TableExists, Missing: "it is " + s.kind, Why: "rows can be written past it, and no index keeps them apart",
			Advice: "register the model with the table behind it",
		})
		return false
	}
	if s.temporary {
		c.found(Finding{
			Severity: Unsafe, Check: TableExists, Missing: "the name stands for a temporary table in this session", Why: "other sessions write another table",
			Advice: "drop the temporary table, or connect anew",
		})
		return false
	}
	return true
}

// checkShape looks for what makes the database write other rows than those that a statement names.
func (c *checker) checkShape() {
	c.checkSecurity()
	c.checkInheritance()
	c.checkRules()
	c.checkGenerated()
	for _, clause := range c.physical.shape.conflicts {
		c.found(Finding{
			Severity: Unsafe, Check: Conflicts, Missing: "a constraint says " + clause,
			Why:    "a write that meets another row does not fail as a whole, but deletes that one, is left out, or leaves a part behind",
			Advice: "make the table anew without that, see https://sqlite.org/lang_altertable.html#otheralter",
		})
	}
	if names := c.physical.shape.subscriptions; names != "" {
		c.found(Finding{
			Severity: Unsafe, Check: Writers, Missing: "the subscription " + names + " writes its rows", Why: "what another server writes goes past the row locks of this one",
			Advice: "write the tree on one server only, and leave its table out of what that one subscribes to",
		})
	}
}

// checkSecurity looks for policies that hide a part of a tree. One that hides whole trees is
// harmless, and so is one on leaves.
func (c *checker) checkSecurity() {
	s := c.physical.shape
	if !s.security || len(c.table.Paths) == 0 {
		return
	}
	var names []string
	for name, columns := range s.policies {
		if slices.ContainsFunc(columns, func(column string) bool { return column != c.table.Tree }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && len(s.policies) > 0 {
		return
	}
	slices.Sort(names)
	c.found(Finding{
		Severity: Unsafe, Check: RowSecurity, Missing: strings.TrimSpace("row-level security hides single rows from this user: " + strings.Join(names, ", ")),
		Why:    "rows below a renamed or deleted one that it hides are left behind",
		Advice: "let policies look at " + c.table.Tree + " alone, or connect as a user with BYPASSRLS",
	})
}

// checkInheritance looks for tables that share their rows with others.
func (c *checker) checkInheritance() {
	s := c.physical.shape
	if s.heirs != "" {
		c.found(Finding{
			Severity: Unsafe, Check: Inheritance, Missing: "the table " + s.heirs + " inherits from it",
			Why:    "statements see the rows of both, but no unique index keeps those apart",
			Advice: "take the tables apart (ALTER TABLE … NO INHERIT …), or make them partitions",
		})
	}
	if above := cmp.Or(s.ancestors, s.partitionOf); above != "" {
		c.found(Finding{
			Severity: Unsafe, Check: Inheritance, Missing: "its rows are also those of " + above,
			Why: "what is written by that name is not guarded", Advice: "register the model with " + above + " if that is partitioned; otherwise take the tables apart",
		})
	}
}

// checkRules looks for rules that put another statement in a statement's place, or add one that
// writes to the tree.
func (c *checker) checkRules() {
	_, table := splitName(c.table.Table)
	for _, r := range c.physical.shape.rules {
		_, action, _ := strings.Cut(r.text, " DO ")
		also := c.grammar().Inspect(action, func(n string) bool { return strings.EqualFold(n, table) }, c.places)
		if !r.instead && !also.Writes {
			continue
		}
		c.found(Finding{
			Severity: Unsafe, Check: Rules, Missing: "the rule " + r.name + " makes other writes of the writes to it", Why: "rows are not what the plugin has written",
			Statements: []string{fmt.Sprintf("DROP RULE %s ON %s", c.quote(r.name), c.quote(c.table.Table))}, Advice: "do in the program what it is for",
		})
	}
}

// checkGenerated looks for columns of the tree that the database works out by itself.
func (c *checker) checkGenerated() {
	t := c.table
	for _, name := range append([]string{t.Tree, t.Parent}, t.columnsOfTexts()...) {
		if c.physical.columns[name].generated == "" {
			continue
		}
		c.found(Finding{
			Severity: Unsafe, Check: Generated, Missing: "the column " + name + " is generated", Why: "the plugin cannot write it",
			Advice: "make it a column of its own, or leave it out of the model",
		})
	}
}
