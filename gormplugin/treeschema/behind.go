package treeschema

import (
	"fmt"
	"slices"
	"strings"
)

// checkForeignKeys looks for foreign keys that change rows of the tree by themselves.
func (c *checker) checkForeignKeys() {
	for _, k := range c.physical.foreignKeys {
		if !slices.ContainsFunc(k.columns, c.forms) {
			continue
		}
		f := Finding{
			Severity: Warning, Check: ForeignKeys, Missing: fmt.Sprintf("the foreign key on %s says %s", strings.Join(k.columns, ", "), k.actions),
			Why:        "rows go without the path locks of their subtrees, and past soft deletion",
			Statements: c.plainKey(c.table, k),
		}
		if k.empties {
			f.Severity, f.Why = Unsafe, "a row whose parent is deleted comes to the top with the path that it had"
		}
		if f.Statements == nil {
			f.Advice = "make the table anew without that, see https://sqlite.org/lang_altertable.html#otheralter"
		}
		c.found(f)
	}
}

// forms reports whether a column is one that the tree is made of.
func (c *checker) forms(name string) bool {
	t := c.table
	return name == t.Tree || name == t.Parent || slices.ContainsFunc(t.texts(), func(text Text) bool { return text.Column == name })
}
