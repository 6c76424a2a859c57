package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Run checks the server, the session of conn and the tables. The findings' statements can be run in
// the order of the findings.
func Run(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Table) ([]Finding, error) {
	settings, err := ask(ctx, conn, string(d.Name)+"_settings.sql")
	if err != nil {
		return nil, err
	}
	findings, err := Tables(ctx, conn, d, tables)
	return append(judge(d, settings), findings...), err
}

// Tables checks the tables alone, as [Run] does.
func Tables(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Table) ([]Finding, error) {
	var findings []Finding
	err := eachTable(ctx, conn, d, tables, func(c *checker) error {
		c.check()
		findings = append(findings, c.findings...)
		return nil
	})
	return findings, err
}

// eachTable reads the tables, and calls f with a checker of each.
func eachTable(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Table, f func(*checker) error) error {
	for _, t := range tables {
		c, err := read(ctx, conn, d, t)
		if err != nil {
			return fmt.Errorf("treeschema: reading the catalogue on %s: %w", t.Table, err)
		}
		if err := f(&checker{dialect: d, table: t, catalogue: c}); err != nil {
			return err
		}
	}
	return nil
}

// checker checks one table.
type checker struct {
	*catalogue
	dialect  *dialect.Dialect
	table    Table
	findings []Finding
}

// found adds a finding about the table.
func (c *checker) found(f Finding) {
	f.Table = c.table.Table
	c.findings = append(c.findings, f)
}

// check checks the table.
func (c *checker) check() {
	if !c.isThere() {
		return
	}
	c.checkConflicts()
	c.checkKey()
	c.checkTexts()
	c.checkUnique()
	c.checkPathIndex()
	c.checkForeignKeys()
	c.checkNamed()
}

// missing says that there is nothing to check: something else, or only part of the table.
func (c *checker) missing() (what, why, advice string) {
	const nothing, create = "nothing can be written", "gormplugin.AutoMigrate creates what the model needs"
	if !c.exists {
		return "there is no such table", nothing, create
	}
	if c.Kind != "" {
		return "it is " + c.Kind, "rows can be written past it, and no index keeps them apart", "register the model with the table behind it"
	}
	var absent []string
	for _, name := range c.table.Columns() {
		if _, ok := c.columns[name]; !ok {
			absent = append(absent, name)
		}
	}
	if absent != nil {
		return "there is no column " + strings.Join(absent, ", "), nothing, create
	}
	return "", "", ""
}

// isThere checks that there is a table with the model's columns, and with transactions.
func (c *checker) isThere() bool {
	if what, why, advice := c.missing(); what != "" {
		c.found(Finding{Severity: Unsafe, Check: TableExists, Missing: what, Why: why, Advice: advice})
		return false
	}
	if c.Engine != "" && c.Engine != "InnoDB" {
		c.found(Finding{
			Severity: Unsafe, Check: Engine, Missing: "the storage engine is " + c.Engine, Why: "no assertion holds without InnoDB's transactions and row locks",
			Statements: []string{"ALTER TABLE " + c.dialect.Quote(c.table.Table) + " ENGINE = InnoDB"}, Advice: "then check the table again",
		})
		return false
	}
	return true
}

// checkKey checks that the database keeps the model's keys apart: rows are locked by them.
func (c *checker) checkKey() {
	for _, i := range c.indexes {
		same := bool(i[0].Unique && !i[0].Idle) && i[0].Condition == "" && len(i) == len(c.table.Key)
		for _, p := range i {
			same = same && slices.Contains(c.table.Key, p.Column)
		}
		if same {
			return
		}
	}
	c.found(Finding{
		Severity: Unsafe, Check: PrimaryKey, Missing: "no unique index is over " + strings.Join(c.table.Key, ", ") + " alone",
		Why: "two rows may have one id, and a lock on one row locks them all", Advice: "make that the primary key",
	})
}
