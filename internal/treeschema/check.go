// Package treeschema checks the tables in which package gormplugin keeps trees, the server and the
// session, for everything that the plugin's promises depend on.
//
// A check returns [Finding] values. Each says what is missing, why that matters, and which SQL
// mends it, or what to do if plain statements do not. Programs call gormplugin.Verify, which fills
// in the [Model] values from the models. This package knows neither GORM nor models.
//
// It reads a database's catalogue by a query or two, which return the same kind of values on every
// database, and judges those. It may read the rows, and runs nothing else. It judges columns, plain
// indexes, and the conditions and generated columns that AutoMigrate writes. It names whatever else
// could break a promise, without judging it.
package treeschema

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Run checks the server, the session of conn, and the tables with their rows. The findings'
// statements can be run in the order of the findings.
func Run(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Model) ([]Finding, error) {
	values, err := Settings(ctx, conn, d)
	if err != nil {
		return nil, err
	}
	found, err := checkEach(ctx, conn, d, tables, true)
	return append(judge(d, values), found...), err
}

// Tables checks the tables alone, as [Run] does, without their rows.
func Tables(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Model) ([]Finding, error) {
	return checkEach(ctx, conn, d, tables, false)
}

// checkEach checks the tables, with their rows or without.
func checkEach(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Model, rows bool) (findings []Finding, err error) {
	given, catalogues := make(map[string]bool), make(map[string]*catalogue)
	look := func(table string) (*catalogue, error) {
		if there := catalogues[table]; there != nil {
			return there, nil
		}
		there, err := read(ctx, conn, d, table)
		catalogues[table] = there
		return there, err
	}
	for _, t := range tables {
		there, err := look(t.name())
		if err != nil {
			return findings, err
		}
		for _, column := range t.Planned {
			there.columns[column.Name] = column
		}
		c := checker{dialect: d, table: t, catalogue: there, given: given}
		above, key := there, t.Key
		if t.isLeaf() && t.Above.Table != "" {
			if above, err = look(t.Above.Table); err != nil {
				return findings, err
			}
			key = t.Above.Key
		}
		c.checkParent(above, key)
		if c.check(); rows {
			err = c.checkRows(ctx, conn)
		}
		if findings = append(findings, c.findings...); err != nil {
			return findings, fmt.Errorf("treeschema: reading the rows of %s: %w", t.name(), err)
		}
	}
	return findings, nil
}

// checker checks one table.
type checker struct {
	*catalogue
	dialect  *dialect.Dialect
	table    Model
	findings []Finding
	// given are the names of new indexes, in lower case: other than on MySQL, each is that of one
	// table alone.
	given map[string]bool
}

// found adds a finding about the table.
func (c *checker) found(f Finding) {
	f.Table = c.table.name()
	c.findings = append(c.findings, f)
}

// check checks the table.
func (c *checker) check() {
	if !c.isThere() {
		return
	}
	c.checkConflicts()
	c.checkKey()
	c.checkColumns()
	c.checkUnique()
	c.checkPathIndex()
	c.checkLookups()
	c.checkForeignKeys()
	c.checkNamed()
}

// isThere checks that there is a table with the model's columns, and with transactions.
func (c *checker) isThere() bool {
	f := Finding{Severity: Unsafe, Check: TableExists, Why: "nothing can be written", Advice: "gormplugin.AutoMigrate creates what the model needs; but it adds no column of the tree to a table with rows: pathlock adopt prints how to"}
	absent := c.lacks(c.table.Columns())
	switch {
	case !c.exists:
		f.Missing = "there is no such table"
	case c.Kind != "":
		f.Missing, f.Why, f.Advice = "it is "+c.Kind, "rows can be written past it, and no index keeps them apart", "register the model with the table behind it"
	case len(absent) > 0:
		f.Missing = "there is no column " + strings.Join(absent, ", ")
	case c.Engine != "" && c.Engine != "InnoDB":
		f.Check, f.Missing, f.Why = Engine, "the storage engine is "+c.Engine, "no assertion holds without InnoDB's transactions and row locks"
		f.Statements, f.Advice = []string{"ALTER TABLE " + c.dialect.Quote(c.table.name()) + " ENGINE = InnoDB"}, ""
		c.found(f)
		return true
	default:
		return true
	}
	c.found(f)
	return false
}

// checkKey checks that the database keeps the model's keys apart: rows are locked by them.
func (c *checker) checkKey() {
	for _, i := range c.indexes {
		same := bool(i[0].Unique && !i[0].Idle) && i[0].Condition == "" && len(i) == 1 && i[0].Column == c.table.Key
		if same {
			return
		}
	}
	c.found(Finding{
		Severity: Unsafe, Check: PrimaryKey, Missing: "no unique index is over " + c.table.Key + " alone",
		Why: "two rows may have one id, and a lock on one row locks them all", Advice: "make that the primary key",
	})
}

// onConflict matches what a constraint of SQLite does instead of failing. A default instead of NULL
// does no harm.
var onConflict = regexp.MustCompile(`(not null )?on conflict (replace|ignore|fail|rollback)`)

// checkConflicts looks for the clauses of SQLite that turn a conflict into something other than a
// plain error.
func (c *checker) checkConflicts() {
	for _, m := range onConflict.FindAllStringSubmatch(withoutLiterals(c.Text), -1) {
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
		actions := ""
		for _, action := range []string{"DELETE " + k.OnDelete, "UPDATE " + k.OnUpdate} {
			if strings.Contains(action, " SET ") || strings.HasSuffix(action, " CASCADE") {
				actions += " ON " + action
			}
		}
		if actions == "" || !slices.Contains(c.table.shaping(), k.Column) {
			continue
		}
		f := Finding{
			Severity: Warning, Check: ForeignKeys, Missing: "the foreign key on " + k.Column + " says" + actions,
			Why: "rows change or vanish without path locks, and without soft deletion", Advice: "recreate it without that, if the database can; SQLite needs a new table",
		}
		if strings.Contains(actions, "SET ") {
			f.Severity, f.Why = Unsafe, "a row whose parent is deleted moves to the top, but keeps its path"
		}
		c.found(f)
	}
}

// aboutNamed are the findings about what else the database does with the rows of a table, by the
// word that the queries have for it. Those of severity [Warning] judge nothing.
var aboutNamed = map[string]Finding{
	"heir": {
		Severity: Unsafe, Check: Inheritance, Missing: "the table %s inherits from it",
		Why: "statements see the rows of both, but no unique index spans both", Advice: "separate the tables (ALTER TABLE … NO INHERIT …)",
	},
	"ancestor": {
		Severity: Unsafe, Check: Inheritance, Missing: "its rows are also those of %s",
		Why: "writes by that name are not guarded", Advice: "register the model with that table if it is partitioned; otherwise separate the tables",
	},
	"policy": {
		Check: RowSecurity, Missing: "cannot judge the row-level security: %s",
		Why: "a rename or a deletion misses the rows below that are hidden from this user", Advice: "see that it hides whole trees or nothing, by the tree's id alone, or connect as a user with BYPASSRLS",
	},
	"trigger":   {Check: Triggers, Missing: "cannot judge the trigger %s", Why: unseen, Advice: unseenAdvice},
	"rule":      {Check: Rules, Missing: "cannot judge the rule %s", Why: unseen, Advice: unseenAdvice},
	"partition": {Check: Partitions, Missing: "cannot judge the partitions by %s", Why: "the plugin does not see what is written to a partition by its own name", Advice: "write by the table's name alone"},
}

// unseen and unseenAdvice say that nobody has judged something that writes by itself.
const (
	unseen       = "the plugin does not see what it writes"
	unseenAdvice = "see that it leaves the columns of the tree alone, skips no row, and writes to no other registered table"
)

// checkNamed reports the things for which there is a finding.
func (c *checker) checkNamed() {
	for _, n := range c.named {
		// A policy on leaves hides no part of a subtree.
		if f, ok := aboutNamed[n.what]; ok && (n.what != "policy" || len(c.table.paths()) > 0) {
			f.Missing = fmt.Sprintf(f.Missing, n.Name)
			c.found(f)
		}
	}
}
