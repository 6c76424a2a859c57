package treeschema

import (
	"cmp"
	"strings"
)

// trigger is a trigger of the database.
type trigger struct {
	// schema is "" on SQLite.
	schema, name, table string
}

// unseen and unseenAdvice say of what the database runs by itself that nobody has judged it.
const (
	unseen       = "the plugin does not see what it writes"
	unseenAdvice = "see that it leaves the columns of the tree alone, skips no row, and writes to no other registered table"
)

// checkTriggers names the table's triggers.
func (c *checker) checkTriggers() {
	for _, tr := range c.physical.triggers {
		if c.owns(tr) {
			c.found(Finding{Severity: Warning, Check: Triggers, Missing: "there is the trigger " + tr.name, Why: unseen, Advice: unseenAdvice})
		}
	}
}

// owns reports whether a trigger belongs to the table.
func (c *checker) owns(tr trigger) bool {
	schema, name := splitName(c.table.Table)
	schema = cmp.Or(schema, c.physical.schema)
	return strings.EqualFold(tr.table, name) && (tr.schema == "" || schema == "" || strings.EqualFold(tr.schema, schema))
}
