package treeschema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// trigger is a trigger of the database.
type trigger struct {
	// schema is "" on SQLite.
	schema, name, table string
	// before is set if it runs for each row, before the row is written.
	before bool
	// updates and deletes say which events fire it.
	updates, deletes bool
	// text is its body, and language the body's language, "" for SQL.
	text, language string
}

// routine is a procedure or a function.
type routine struct{ text, language string }

// readable are the languages that the check can read.
var readable = []string{"", "sql", "plpgsql"}

// harmless are functions written in C that leave the columns of a tree alone.
var harmless = []string{"tsvector_update_trigger", "tsvector_update_trigger_column", "suppress_redundant_updates_trigger"}

// verdict says what a trigger does to the tree.
type verdict struct {
	does string
	// doubtful is set if its text does not tell.
	doubtful bool
}

// checkTriggers looks for triggers that write to the table, and for those that change or skip a row
// before it is written. It reads their text, and that of the routines that they call. If the text
// does not tell, and the caller asked for probing, it tries the table's own triggers out.
func (c *checker) checkTriggers(ctx context.Context) {
	var doubtful []trigger
	for _, tr := range c.physical.triggers {
		v := c.judge(tr)
		switch {
		case v.does != "":
			c.found(Finding{
				Severity: Unsafe, Check: Triggers, Missing: fmt.Sprintf("the trigger %s on %s %s", tr.name, tr.table, v.does),
				Why: triggersWhy, Statements: c.dropTrigger(tr), Advice: "do its work in the program",
			})
		case v.doubtful && !c.owns(tr):
			c.found(Finding{
				Severity: Warning, Check: Triggers, Missing: untold(tr), Why: untoldWhy,
				Advice: "see for yourself: write to " + tr.table + " in a transaction, look at the rows of " + c.table.Table + ", and roll back",
			})
		case v.doubtful:
			doubtful = append(doubtful, tr)
		}
	}
	if c.prober != nil && (c.physical.blind != "" || doubtful != nil) {
		c.tryOut(ctx, doubtful)
		return
	}
	const advice = "run Verify with Probing on a copy of the database, or where rolled-back writes do no harm"
	if c.physical.blind != "" {
		c.found(Finding{
			Severity: Warning, Check: Triggers, Missing: c.physical.blind, Why: "the check misses one that writes to the tree",
			Advice: "call Verify as a user who has the TRIGGER privilege on the table; or " + advice,
		})
	}
	for _, tr := range doubtful {
		c.found(Finding{Severity: Warning, Check: Triggers, Missing: untold(tr), Why: untoldWhy, Advice: advice})
	}
}

// triggersWhy says why a trigger is harmful, untoldWhy why one may be whose text does not tell.
const (
	triggersWhy = "it changes rows past the locks and the assertion"
	untoldWhy   = "a trigger that writes to the tree changes rows past the locks and the assertion"
)

// untold says that a trigger's text does not tell what it does.
func untold(tr trigger) string {
	return fmt.Sprintf("the text of the trigger %s on %s does not tell what it writes", tr.name, tr.table)
}

// spoilers are the checks that fail if rows differ from what is written, even without triggers.
var spoilers = []Check{Triggers, Rules, RowSecurity, Generated, Conflicts, Inheritance, Engine}

// tryOut finds out by a probe what the table's triggers do: those whose text is doubtful, and those
// that are invisible.
func (c *checker) tryOut(ctx context.Context, doubtful []trigger) {
	names := make([]string, len(doubtful))
	for i, tr := range doubtful {
		names[i] = tr.name
	}
	missing := "a probe shows what an invisible trigger does"
	if c.physical.blind == "" {
		missing = "a probe shows what the trigger " + strings.Join(names, " or ") + " does"
	}
	undecided := Finding{
		Severity: Warning, Check: Triggers, Why: untoldWhy,
		Missing: cmp.Or(c.physical.blind, "the text of the trigger "+strings.Join(names, ", ")+" does not tell what it writes"),
	}
	if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Severity == Unsafe && slices.Contains(spoilers, f.Check) }) {
		undecided.Advice = "mend the unsafe findings first, and probe again"
		c.found(undecided)
		return
	}
	harm, partly, err := c.probe(ctx)
	switch {
	case err != nil:
		undecided.Missing += "; a probe could not be carried out: " + err.Error()
		undecided.Advice = "see for yourself: write a row of the tree in a transaction, look at the rows around it, and roll back"
		c.found(undecided)
	case harm != "":
		f := Finding{Severity: Unsafe, Check: Triggers, Missing: missing + ": " + harm, Why: triggersWhy, Advice: "do its work in the program"}
		if len(doubtful) == 1 && c.physical.blind == "" {
			f.Statements = c.dropTrigger(doubtful[0])
		}
		c.found(f)
	case partly:
		undecided.Missing += fmt.Sprintf("; a probe found no harm, but the table has more than %d rows, and it compared those beside its own only", maxCompared)
		undecided.Advice = "probe on a copy of the database with fewer rows"
		c.found(undecided)
	}
}

// owns reports whether a trigger belongs to the table.
func (c *checker) owns(tr trigger) bool {
	schema, name := splitName(c.table.Table)
	schema = cmp.Or(schema, c.physical.schema)
	return strings.EqualFold(tr.table, name) && (tr.schema == "" || schema == "" || strings.EqualFold(tr.schema, schema))
}

// judge says what a trigger does to the tree.
func (c *checker) judge(tr trigger) verdict {
	schema, name := splitName(c.table.Table)
	schema = cmp.Or(schema, c.physical.schema)
	isTable := func(n string) bool { return strings.EqualFold(n, name) }
	if tr.schema != "" && schema != "" && !strings.EqualFold(tr.schema, schema) {
		// A name without a schema means a table in the trigger's schema.
		if !c.grammar().Names(tr.text, schema) {
			return verdict{}
		}
	}
	ours := c.owns(tr)
	if slices.Contains(harmless, tr.text) {
		return verdict{}
	}
	if !slices.Contains(readable, tr.language) {
		return verdict{doubtful: ours || strings.Contains(strings.ToLower(tr.text), strings.ToLower(name))}
	}
	b := c.grammar().Inspect(tr.text, isTable, c.places)
	switch {
	case b.Writes:
		return verdict{does: "writes to the tree"}
	case ours && tr.before && b.SetsNew:
		return verdict{does: "writes to the tree"}
	case ours && tr.before && (b.Skips || b.ReturnsOld && !tr.deletes):
		return verdict{does: "may leave a row as it was without an error"}
	}
	text, opaque := tr.text, b.Opaque
	for _, r := range c.reached(b) {
		inner := c.grammar().Inspect(r.text, isTable, c.places)
		if inner.Writes {
			return verdict{does: "writes to the tree"}
		}
		text, opaque = text+"\n"+r.text, opaque || inner.Opaque || !slices.Contains(readable, r.language) || r.text == ""
	}
	return verdict{doubtful: opaque && (ours || strings.Contains(strings.ToLower(text), strings.ToLower(name)))}
}

// reached returns the routines that a body calls, directly or through others.
func (c *checker) reached(b rawsql.Body) []routine {
	var all []routine
	seen := make(map[string]bool)
	calls := b.Calls
	for len(calls) > 0 {
		name := calls[0]
		calls = calls[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, r := range c.physical.routines[name] {
			all = append(all, r)
			none := func(string) bool { return false }
			calls = append(calls, c.grammar().Inspect(r.text, none, none).Calls...)
		}
	}
	return all
}

// places reports whether a row's place in the tree depends on a column.
func (c *checker) places(name string) bool {
	return slices.ContainsFunc(c.table.placing(), func(n string) bool { return strings.EqualFold(n, name) })
}
