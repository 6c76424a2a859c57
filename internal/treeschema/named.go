package treeschema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// unseen and unseenAdvice say of what writes by itself that nobody has judged it.
const (
	unseen       = "the plugin does not see what it writes"
	unseenAdvice = "see that it leaves the columns of the tree alone, skips no row, and writes to no other registered table"
)

// aboutNamed are the findings about what the database does with the rows of a table besides, by the
// word that the queries have for it.
var aboutNamed = map[string]Finding{
	"policy": {
		Severity: Unsafe, Check: RowSecurity, Missing: "row-level security hides single rows from this user: %s",
		Why: "a rename or a deletion misses the hidden rows below", Advice: "let policies read the tree's id alone, or connect as a user with BYPASSRLS",
	},
	"heir": {
		Severity: Unsafe, Check: Inheritance, Missing: "the table %s inherits from it",
		Why: "statements see the rows of both, but no unique index spans both", Advice: "separate the tables (ALTER TABLE … NO INHERIT …)",
	},
	"ancestor": {
		Severity: Unsafe, Check: Inheritance, Missing: "its rows are also those of %s",
		Why: "writes by that name are not guarded", Advice: "register the model with that table if it is partitioned; otherwise separate the tables",
	},
	"trigger":   {Severity: Warning, Check: Triggers, Missing: "there is the trigger %s", Why: unseen, Advice: unseenAdvice},
	"rule":      {Severity: Warning, Check: Rules, Missing: "there is the rule %s", Why: unseen, Advice: unseenAdvice},
	"partition": {Severity: Warning, Check: Partitions, Missing: "it is partitioned by %s", Why: "the plugin does not see what is written to a partition by its own name", Advice: "write by the table's name alone"},
}

// checkNamed reports the things for which there is a finding.
func (c *checker) checkNamed() {
	all := c.named
	if c.PartitionedBy != "" {
		all = append(slices.Clone(all), named{"partition", c.PartitionedBy})
	}
	for _, n := range all {
		// A policy on leaves hides no part of a subtree.
		if f, ok := aboutNamed[n.what]; ok && (n.what != "policy" || len(c.table.Paths) > 0) {
			f.Missing = fmt.Sprintf(f.Missing, n.name)
			c.found(f)
		}
	}
}

// onConflict matches what a constraint of SQLite does in the place of failing. A default in the
// place of NULL does no harm.
var onConflict = regexp.MustCompile(`(not null )?on conflict (replace|ignore|fail|rollback)`)

// checkConflicts looks for the clauses of SQLite that turn a conflict into something else than a
// plain error.
func (c *checker) checkConflicts() {
	text := literals.ReplaceAllString(normal(c.Text), "''")
	for _, m := range onConflict.FindAllStringSubmatch(text, -1) {
		if m[1] != "" && m[2] == "replace" {
			continue
		}
		c.found(Finding{
			Severity: Unsafe, Check: Conflicts, Missing: "a constraint says ON CONFLICT " + strings.ToUpper(m[2]),
			Why:    "a conflicting write does not fail as a whole: it deletes the other row, is skipped, or is half done",
			Advice: "recreate the table without it, see https://sqlite.org/lang_altertable.html#otheralter",
		})
	}
}

// checkForeignKeys looks for foreign keys that change rows of the tree on their own.
func (c *checker) checkForeignKeys() {
	for _, k := range c.foreignKeys {
		if k.actions == "" || !slices.ContainsFunc(k.columns, func(name string) bool { return slices.Contains(c.table.shaping(), name) }) {
			continue
		}
		f := Finding{
			Severity: Warning, Check: ForeignKeys, Missing: fmt.Sprintf("the foreign key on %s says%s", strings.Join(k.columns, ", "), k.actions),
			Why: "rows change or vanish without path locks, and without soft deletion", Advice: "make it again without that, where the database can; SQLite needs a new table",
		}
		if strings.Contains(k.actions, "SET ") {
			f.Severity, f.Why = Unsafe, "a row whose parent is deleted moves to the top, but keeps its path"
		}
		c.found(f)
	}
}
