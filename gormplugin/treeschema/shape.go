package treeschema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// shape says what a table is, apart from its columns and indexes.
type shape struct {
	// kind says what the name stands for if not for a table, such as "a view".
	kind string
	// temporary is set for a table of this session alone.
	temporary bool
	// security is set if row-level policies apply to this user. policies are the columns that each
	// policy reads.
	security bool
	policies map[string][]string
	// heirs are the tables that inherit from it, ancestors those that it inherits from. Partitions
	// do not count.
	heirs, ancestors string
	// partitionOf is the table of which it is a partition.
	partitionOf string
	// subscriptions are the subscriptions that write its rows.
	subscriptions string
	rules         []string
	// conflicts are clauses that turn a conflict into something else than a plain error, such as
	// "ON CONFLICT REPLACE".
	conflicts []string
}

// isTable checks that the name stands for a table, and for the same one in all sessions.
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
			Advice: "drop the temporary table, or open a new connection",
		})
		return false
	}
	return true
}

// checkShape looks for everything that makes the database write other rows than a statement names.
func (c *checker) checkShape() {
	c.checkSecurity()
	c.checkInheritance()
	c.checkRules()
	c.checkGenerated()
	for _, clause := range c.physical.shape.conflicts {
		c.found(Finding{
			Severity: Unsafe, Check: Conflicts, Missing: "a constraint says " + clause,
			Why:    "a conflicting write does not fail as a whole: it deletes the other row, is skipped, or is half done",
			Advice: "recreate the table without it, see https://sqlite.org/lang_altertable.html#otheralter",
		})
	}
	if names := c.physical.shape.subscriptions; names != "" {
		c.found(Finding{
			Severity: Unsafe, Check: Writers, Missing: "the subscription " + names + " writes its rows", Why: "another server writes past the row locks of this one",
			Advice: "write the tree on one server only, and exclude its table from that server's subscriptions",
		})
	}
}

// checkSecurity looks for policies that hide part of a tree. A policy that hides whole trees is
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
		Why:    "a rename or a deletion misses the hidden rows below",
		Advice: "let policies read " + c.table.Tree + " alone, or connect as a user with BYPASSRLS",
	})
}

// checkInheritance looks for tables that share their rows with others.
func (c *checker) checkInheritance() {
	s := c.physical.shape
	if s.heirs != "" {
		c.found(Finding{
			Severity: Unsafe, Check: Inheritance, Missing: "the table " + s.heirs + " inherits from it",
			Why:    "statements see the rows of both, but no unique index spans both",
			Advice: "separate the tables (ALTER TABLE … NO INHERIT …), or make them partitions",
		})
	}
	if above := cmp.Or(s.ancestors, s.partitionOf); above != "" {
		c.found(Finding{
			Severity: Unsafe, Check: Inheritance, Missing: "its rows are also those of " + above,
			Why: "writes by that name are not guarded", Advice: "register the model with " + above + " if that is partitioned; otherwise separate the tables",
		})
	}
}

// checkRules names the rules.
func (c *checker) checkRules() {
	for _, name := range c.physical.shape.rules {
		c.found(Finding{Severity: Warning, Check: Rules, Missing: "there is the rule " + name, Why: unseen, Advice: unseenAdvice})
	}
}

// checkGenerated looks for columns of the tree that the database computes.
func (c *checker) checkGenerated() {
	for _, name := range c.table.shaping() {
		if c.physical.columns[name].generated == "" {
			continue
		}
		c.found(Finding{
			Severity: Unsafe, Check: Generated, Missing: "the column " + name + " is generated", Why: "the plugin cannot write it",
			Advice: "make it a plain column, or leave it out of the model",
		})
	}
}

// checkForeignKeys looks for foreign keys that change rows of the tree on their own.
func (c *checker) checkForeignKeys() {
	for _, k := range c.physical.foreignKeys {
		if !slices.ContainsFunc(k.columns, func(name string) bool { return slices.Contains(c.table.shaping(), name) }) {
			continue
		}
		f := Finding{
			Severity: Warning, Check: ForeignKeys, Missing: fmt.Sprintf("the foreign key on %s says %s", strings.Join(k.columns, ", "), k.actions),
			Why:        "rows change or vanish without path locks, and without soft deletion",
			Statements: c.plainKey(c.table, k),
		}
		if k.empties {
			f.Severity, f.Why = Unsafe, "a row whose parent is deleted moves to the top, but keeps its path"
		}
		if f.Statements == nil {
			f.Advice = "recreate the table without it, see https://sqlite.org/lang_altertable.html#otheralter"
		}
		c.found(f)
	}
}
