package command

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// report writes what fsck finds and changes, for people or as JSON.
type report struct {
	*output
	*fsckCommand
}

// repairLine ends the report of a repair, in JSON.
type repairLine struct {
	// Applied is false after a dry run. Complete is false after a repair that ended early.
	Applied  bool `json:"applied"`
	Complete bool `json:"complete"`
	fsck.RepairSummary
}

// moves begins the report of a dry run, also of a quiet one.
func (r *report) moves(m fsck.MoveCount) error {
	refused := ""
	if m.Reason != "" {
		refused = "; --apply refuses that without --allow-moves: " + m.Reason
	}
	return r.line(typed{"moves", m}, fmt.Sprintf("%d of %s would move below lost+found or to the top%s", m.Moves, shown.Count(m.Rows, "row", "rows"), refused))
}

// change describes a change to people.
func (r *report) change(c fsck.Change) string {
	verb := "change"
	if c.Insert {
		verb = "create"
	}
	of := ""
	if c.Table != r.Table {
		of = " of " + c.Table // a leaf
	}
	return fmt.Sprintf("%s: tree %v, row %v%s, %s: %s -> %s (%s)", verb, c.Tree, c.ID, of, c.Column, written(c.Old), written(c.New), c.Why)
}

// detail returns what writes a line of the report, unless only the summary is wanted.
func detail[T any](r *report, kind, before string, text func(T) string) func(T) error {
	return func(is T) error {
		if r.Quiet {
			return nil
		}
		return r.line(typed{kind, is}, before+text(is))
	}
}

// line writes a line of the report. The error ends the check or the repair.
func (r *report) line(object typed, text string) error {
	r.say(r.JSON, object, text)
	return r.failed
}

// written returns a column's value for people.
func written(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprint(v)
	}
}

// repaired ends the report of a repair.
func (r *report) repaired(s fsck.RepairSummary, complete bool) {
	var text string
	values, left := shown.Count(s.Changes, "value", "values"), shown.Count(s.After.Total(), "problem", "problems")
	transactions := shown.Count(s.Transactions, "transaction", "transactions")
	switch {
	case !complete:
		text = fmt.Sprintf("ended early after %s in %s; run it again to continue", shown.Count(s.Changes, "change", "changes"), transactions)
	case !r.Apply:
		text = fmt.Sprintf("%s\n%s would change, and %s would remain, if the database accepts it all; nothing has been written (--apply writes)", count(s.Before), values, left)
	default:
		skipped := ""
		if s.Skipped > 0 {
			skipped = ", " + shown.Count(s.Skipped, "row or tree", "rows or trees") + " skipped"
		}
		text = fmt.Sprintf("%s\n%s changed in %s%s, %s left", count(s.Before), values, transactions, skipped, left)
	}
	r.say(r.JSON, typed{"summary", repairLine{r.Apply, complete, s}}, text)
}

// count returns a summary for people.
func count(s fsck.Summary) string {
	text := shown.Count(s.Rows, "row", "rows") + ", " + shown.Count(s.Total(), "problem", "problems")
	for _, kind := range slices.Sorted(maps.Keys(s.Problems)) {
		text += fmt.Sprintf(", %d %s", s.Problems[kind], kind)
	}
	return text
}
