package treeschema

import (
	"fmt"
	"regexp"
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

// checkTriggers looks for triggers that write to the table, or change a row of it before it is written. It goes by the text: what
// a trigger does by way of a procedure, it does not see.
func (c *checker) checkTriggers() {
	_, name := splitName(c.table.Name)
	writes := regexp.MustCompile(`(?i)\b(?:UPDATE(?:\s+ONLY|\s+OR\s+\w+)?|INTO|DELETE\s+FROM(?:\s+ONLY)?)\s+(?:["` + "`" + `\[]?\w+["` + "`" + `\]]?\.)?["` + "`" + `\[]?` +
		regexp.QuoteMeta(name) + `\b`)
	for _, tr := range c.physical.triggers {
		text := stripped(tr.text)
		if strings.EqualFold(tr.table, name) && tr.before && c.assigns(text) || writes.MatchString(text) {
			c.found(Finding{
				Severity: Unsafe, Check: Triggers, Missing: fmt.Sprintf("the trigger %s on %s writes to the tree", tr.name, tr.table),
				Why: "it changes rows past the locks and the assertion", Statements: c.dropTrigger(tr),
				Advice: "do in the program what it is for",
			})
		}
	}
}

// assigns reports whether a trigger's text gives one of the tree's columns in the new row a value.
func (c *checker) assigns(text string) bool {
	for _, match := range assignment.FindAllStringSubmatch(text, -1) {
		if c.forms(strings.ToLower(match[1])) || c.forms(match[1]) {
			return true
		}
	}
	return false
}

// assignment matches NEW.column := value, and NEW.column = value behind SET, a comma or a semicolon.
var assignment = regexp.MustCompile("(?i)(?:\\bSET|,|;|\\bBEGIN|\\bTHEN|\\bELSE)\\s*NEW\\.[\"`]?(\\w+)[\"`]?\\s*:?=")

// comment matches an SQL comment.
var comment = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)

// stripped leaves out the comments.
func stripped(text string) string { return comment.ReplaceAllString(text, " ") }
