package treeschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Run checks the server, the session of conn and the tables. dialectName is GORM's name for the
// dialect: mysql, postgres or sqlite. The findings' statements can be run in the order of the
// findings.
func Run(ctx context.Context, conn Conn, dialectName string, tables []Table) ([]Finding, error) {
	d, err := dialectOf(dialectName)
	if err != nil {
		return nil, err
	}
	findings, err := d.server(ctx, conn)
	if err != nil {
		return nil, err
	}
	more, err := Tables(ctx, conn, dialectName, tables)
	return append(findings, more...), err
}

// Tables checks the tables alone, as [Run] does.
func Tables(ctx context.Context, conn Conn, dialectName string, tables []Table) ([]Finding, error) {
	return checkTables(ctx, conn, dialectName, tables, false)
}

// Automatic returns the findings whose statements a migration may run unasked, see
// [Finding.Automatic]. None of them depends on the statements of a finding that is left out.
func Automatic(ctx context.Context, conn Conn, dialectName string, tables []Table) ([]Finding, error) {
	findings, err := checkTables(ctx, conn, dialectName, tables, true)
	return slices.DeleteFunc(findings, func(f Finding) bool { return !f.automatic || len(f.Statements) == 0 }), err
}

// checkTables checks each table, and makes statements that may be run unasked, or all of them.
func checkTables(ctx context.Context, conn Conn, dialectName string, tables []Table, automatic bool) ([]Finding, error) {
	var findings []Finding
	err := eachTable(ctx, conn, dialectName, tables, func(c *checker) error {
		c.automatic = automatic
		err := c.check(ctx)
		findings = append(findings, c.findings...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return findings, nil
}

// eachTable reads the tables, and calls f with a checker of each.
func eachTable(ctx context.Context, conn Conn, dialectName string, tables []Table, f func(*checker) error) error {
	d, err := dialectOf(dialectName)
	if err != nil {
		return err
	}
	for _, t := range tables {
		p, err := d.read(ctx, conn, t.Table)
		if err != nil {
			return fmt.Errorf("treeschema: reading the catalogue on %s: %w", t.Table, err)
		}
		if err := f(&checker{dialect: d, conn: conn, table: t, physical: p}); err != nil {
			return err
		}
	}
	return nil
}

// checker checks one table.
type checker struct {
	dialect
	conn     Conn
	table    Table
	physical *physical
	findings []Finding
	// automatic is set if the checker makes only statements that may be run unasked. Each statement
	// is made for the table as the statements before it leave it.
	automatic bool
	// mended are the columns to which statements give a binary collation.
	mended []string
	// mark and partitionedBy describe the table as the statements of the last finding leave it.
	mark, partitionedBy string
	partitioned         bool
}

// asked makes statements that a person has to read before they are run.
func (c *checker) asked(statements func() []string) []string {
	if c.automatic {
		return nil
	}
	return statements()
}

// found adds a finding about the table.
func (c *checker) found(f Finding) {
	f.Table = c.table.Table
	// To remove partitions, or to change the engine, the database copies the whole table. Another
	// engine may have no room for its columns and indexes.
	f.automatic = f.automatic && f.Statements != nil && (!c.partitioned || c.physical.partitionedBy != "") && !c.otherEngine()
	if c.automatic && !f.automatic {
		c.physical.mark, c.physical.partitionedBy = c.mark, c.partitionedBy
	}
	c.mark, c.partitionedBy = c.physical.mark, c.physical.partitionedBy
	c.findings = append(c.findings, f)
}

// check checks the table.
func (c *checker) check(ctx context.Context) error {
	c.partitionedBy, c.partitioned = c.physical.partitionedBy, c.physical.partitionedBy != ""
	if !c.exists() || !c.isTable() || !c.complete() {
		return nil
	}
	before := maps.Clone(c.physical.columns)
	c.checkEngine()
	c.checkShape()
	c.checkPrimaryKey()
	c.checkCompressed()
	c.checkTexts()
	if err := c.checkUnique(ctx); err != nil {
		return fmt.Errorf("treeschema: indexes of %s: %w", c.table.Table, err)
	}
	if err := c.checkPathIndex(ctx); err != nil {
		return fmt.Errorf("treeschema: indexes of %s: %w", c.table.Table, err)
	}
	c.checkForeignKeys()
	c.checkTriggers()
	return c.sparesRows(ctx, before)
}

// absence is the finding that the table or a column is missing.
func absence(missing string) Finding {
	return Finding{
		Severity: Unsafe, Check: TableExists, Missing: missing, Why: "nothing can be written",
		Advice: "gormplugin.AutoMigrate creates what the model needs",
	}
}

// exists checks that the database knows the table's name.
func (c *checker) exists() bool {
	if !c.physical.exists {
		c.found(absence("there is no such table"))
	}
	return c.physical.exists
}

// complete checks that the table has the model's columns.
func (c *checker) complete() bool {
	var missing []string
	for _, name := range c.table.Columns() {
		if _, ok := c.physical.columns[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.found(absence("there is no column " + strings.Join(missing, ", ")))
	}
	return len(missing) == 0
}

// otherEngine reports whether the storage engine is one other than InnoDB.
func (c *checker) otherEngine() bool {
	return c.physical.engine != "" && c.physical.engine != "InnoDB"
}

// checkEngine checks that the storage engine has transactions.
func (c *checker) checkEngine() {
	if c.otherEngine() {
		c.found(Finding{
			Severity: Unsafe, Check: Engine, Missing: "the storage engine is " + c.physical.engine, Why: "no assertion holds without InnoDB's transactions and row locks",
			Statements: []string{"ALTER TABLE " + c.quote(c.table.Table) + " ENGINE = InnoDB"},
		})
	}
}

// onePiece is the advice for a table whose partitions forbid a unique index.
func (c *checker) onePiece() string {
	return "make it one table without partitions: its unique indexes must contain what it is partitioned by (" + c.physical.partitionedBy + "), so either ids or siblings have none"
}

// checkPrimaryKey checks that the model's key is the table's: rows are locked by it.
func (c *checker) checkPrimaryKey() {
	unique := false
	for _, i := range c.physical.indexes {
		same := len(i.parts) == len(c.table.Key) && i.predicate == "" && !i.idle
		for _, name := range c.table.Key {
			same = same && slices.Contains(i.columns(), name)
		}
		if same && i.primary {
			return
		}
		unique = unique || same && i.unique
	}
	if _, byPrimaryKey := c.dialect.(mysql); unique && !byPrimaryKey {
		return
	}
	f := Finding{
		Severity: Unsafe, Check: PrimaryKey, Missing: "the primary key is not " + strings.Join(c.table.Key, ", "),
		Why:        "two rows may have one id, and a lock on one row locks them all",
		Statements: c.asked(func() []string { return c.primaryKey(c.table, c.physical) }),
	}
	if f.Statements == nil {
		f.Advice = c.onePiece()
	}
	if unique {
		f.Severity, f.Why = Warning, "a lock on one row locks them all"
	}
	c.found(f)
}
