package adopt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// topZero is the parent at the top of programs in which it is no pointer.
var topZero = cell{String: "0", Valid: true}

// refused says what programs can no longer do.
func (s *shape) refused(v verdict, found []treeschema.Finding) (refused remarks) {
	form, _ := treetable.ParseForm(s.PathForm)
	refused.say(true, "raw SQL that names %s, unless it plainly reads: change it, or allow it by AllowAllRawWrites", s.Table.Table)
	refused.say(s.Name != "", "a sibling with the same %s: %s the unique index", s.Name, shown.Count(v.twins, "row has one now, and prevents", "rows have one now, and prevent"))
	refused.say(s.Path != "", "a %s that is empty or contains %q: %s now", s.Name, form.Separator, shown.Count(v.unfit, "row has one", "rows have one"))
	refused.say(true, "a %s that is no row's %s, deleted, below the row itself, or in another tree: %s now", s.Parent, s.Key, shown.Count(v.orphans, "row has none", "rows have none"))
	refused.say(s.of.kind(s.Parent) == dialect.Number && slices.Contains(s.of.cells[s.Parent], topZero),
		"Updates of a struct skips a %s of 0, and so a move to the top: name the columns by Select", s.Parent)
	refused.say(s.isTagged(), "setting %s deletes the rows below, too; clearing it restores the row alone; Delete and gormplugin.Delete remove rows for good. If the field is a soft_delete.DeletedAt, leave its tag out", s.Deleted)
	refused.say(!s.isTagged(), "Delete also deletes the rows below")
	for _, name := range []string{s.Key, s.Tree, s.Parent, s.Name, s.Path, s.IDPath, s.Deleted} {
		e := s.of.columns[name].Expression
		refused.say(e != "", "%s is generated from %s: no program can write it; make it a plain column", name, e)
	}
	alters := slices.ContainsFunc(found, func(f treeschema.Finding) bool {
		return slices.Contains([]treeschema.Check{treeschema.Collation, treeschema.Type, treeschema.Length}, f.Check)
	})
	refused.say(alters || s.short != nil, "AutoMigrate of old models would undo the types, lengths and collations: give their fields the same size, or remove the call")
	return refused
}

// rollout lists the steps to the tree's protection.
func (t Tree) rollout() (steps remarks) {
	fsck, late, without, kinds := t.fsck(), t.whyLate(), "", "UNIQUE"
	if t.shape.pair != nil {
		kinds = "UNIQUE or CHECK"
	}
	if late != "" {
		without = ", but for those with " + kinds + ", as " + late
	}
	repair := fsck + " --repair"
	if t.shape.Name != "" {
		repair += t.shape.lostFound()
	}
	steps.say(slices.ContainsFunc(t.Statements, t.shape.isUndone), "Release old code without AutoMigrate of %s.", t.Table)
	steps.say(len(t.Statements) > 0, "Run the statements above, one by one%s. Then run %s.", without, t.shape.analyze())
	steps.say(true, "Stop the old instances, or let the proxy refuse everything but GET for them.")
	steps.say(t.shape.isAdded(t.shape.Parent) || t.shape.pair != nil, "Run the UPDATE statements again: old code has written rows without the new columns.")
	steps.say(true, "See what a repair would change: %s", repair)
	steps.say(true, "Repair, as nobody writes now: %s --apply --locks off --log changes.jsonl", repair)
	steps.say(late != "", "Run the statements with %s.", kinds)
	steps.say(true, "Check, before the start and after a day: %s", fsck)
	steps.say(true, "Start the new instances, with the tags and options above, first with offstore.New().")
	steps.say(true, "Restart the instances with a lock store, one after the other.")
	return steps
}

// kept are the statements that an AutoMigrate of models that do not know them leaves alone: GORM
// drops neither columns nor plain indexes. On SQLite it makes the table anew if a column differs.
var kept = regexp.MustCompile("^(?:UPDATE |CREATE INDEX |ALTER TABLE " + name + " ADD (?:COLUMN|KEY) )")

// isUndone reports whether an AutoMigrate of old code may undo a statement, or fail after it.
func (s *shape) isUndone(st Statement) bool {
	return s.of.dialect == dialect.SQLite || !kept.MatchString(st.SQL)
}

// fsck is the command that checks the tree.
func (t Tree) fsck() string { return "pathlock fsck " + flags(t.shape.Table, true) }

// whyLate says why unique indexes and constraints have to wait for the repair, "" if they need not.
func (t Tree) whyLate() string {
	switch {
	case !slices.ContainsFunc(t.Statements, func(s Statement) bool {
		return strings.Contains(s.SQL, " UNIQUE ") || strings.Contains(s.SQL, " CHECK (")
	}):
		return ""
	case t.shape.isAdded(t.shape.Parent) || t.shape.pair != nil:
		return "old code writes rows that these would refuse"
	case t.twins > 0:
		return shown.Count(t.twins, "row has", "rows have") + " the name of a sibling now"
	}
	return ""
}

// analyze is the statement that counts the rows anew for the database's planner.
func (s *shape) analyze() string {
	words := "ANALYZE "
	if s.of.dialect == dialect.MySQL {
		words = "ANALYZE TABLE "
	}
	return words + s.of.dialect.Quote(s.Table.Table)
}

// Text is the report for people, with lines of any length.
func (r Report) Text() string {
	var b strings.Builder
	for _, t := range r.Trees {
		t.write(&b)
	}
	for _, u := range r.Unsupported {
		fmt.Fprintf(&b, "%s: not supported: %s\n", u.Table, u.Why)
	}
	if len(r.Trees)+len(r.Unsupported) == 0 {
		b.WriteString("no table that this user can read holds a tree\n")
	}
	return b.String()
}

// write writes what is to be said about a tree.
func (t Tree) write(b *strings.Builder) {
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "\n%s\n\n", title)
		}
		for _, line := range lines {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	agree := fmt.Sprintf("%d of %s", t.Agree, shown.Count(t.Rows, "live row agrees", "live rows agree"))
	if t.shape.guessed {
		agree = shown.Count(t.Rows, "live row", "live rows") + ", of which none has a parent"
	}
	if t.misfit() {
		agree += ": most do not fit this shape"
	}
	fmt.Fprintf(b, "# %s: %s\n", t.Table, agree)
	list("Shape", t.shape.lines())
	var rows, statements remarks
	for _, d := range t.Disagree {
		rows = append(rows, d.Key+": "+d.Why)
	}
	list("Rows that do not agree", rows)
	list("Notes", t.Notes)
	list("Tags of "+typeName(t.Table), t.Tags)
	for _, l := range t.Leaves {
		list("Tags of "+typeName(l.Table), l.Tags)
	}
	list("Options of gormplugin.New", t.Options)
	for _, s := range t.Statements {
		statements = append(statements, s.SQL+";", "  -- "+s.Why, "  -- locks: "+s.Locks)
		statements.say(s.Undo != "", "  -- back: %s;", s.Undo)
	}
	statements.say(len(t.shape.added)+len(t.shape.filled) > 0, "-- after the repair, and before the first start, this must find nothing: %s", t.fsck())
	list("Statements", statements)
	list("What fsck finds", t.Findings)
	list("Refused or different from then on", t.Refused)
	steps := t.rollout()
	for i := range steps {
		steps[i] = fmt.Sprintf("%d. %s", i+1, steps[i])
	}
	list("Roll-out", steps)
	b.WriteString("\n")
}

// misfit reports whether most rows do not have the shape.
func (t Tree) misfit() bool { return !t.shape.guessed && !enough(t.Agree, t.Rows) }

// lines describe the shape, as its tags do.
func (s *shape) lines() (lines remarks) {
	say := func(what, column, more string) {
		switch {
		case slices.Contains(s.filled, column):
			more += " (to be filled)"
		case s.isAdded(column):
			more += " (new)"
		}
		lines.say(column != "", "%-12s %s%s", what, column, more)
	}
	for _, role := range treetable.Roles {
		say(cmp.Or(role.Tag, "key"), *role.Column(&s.Table), strings.Replace(s.option(role), ",", ", ", 1))
		if role.Tag == "tree" {
			say("single tree", s.SingleTree, "")
		}
	}
	for _, l := range s.Leaves {
		say("leaves", leafFlag(l), "")
	}
	return lines
}
