package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/fsck"
)

// report writes what fsck finds and changes, for people or as JSON.
type report struct {
	out  *bufio.Writer
	errs io.Writer
	// table is the one with the trees.
	table       string
	json, quiet bool
}

// warn writes a warning, which is not part of the report.
func (r *report) warn(text string) { _, _ = fmt.Fprintln(r.errs, "pathlock:", printable(text)) }

// The lines of the JSON report.
type (
	movesLine struct {
		Type string `json:"type"`
		fsck.Moves
	}
	problemLine struct {
		Type string `json:"type"`
		fsck.Problem
	}
	changeLine struct {
		Type string `json:"type"`
		fsck.Change
	}
	skipLine struct {
		Type string `json:"type"`
		fsck.Skip
	}
	checkLine struct {
		Type string `json:"type"`
		fsck.Summary
	}
	repairLine struct {
		Type string `json:"type"`
		// Applied is false after a dry run. Complete is false after a repair that ended early.
		Applied  bool `json:"applied"`
		Complete bool `json:"complete"`
		fsck.RepairSummary
	}
)

// moves begins the report of a dry run, also of a quiet one.
func (r *report) moves(m fsck.Moves) error {
	if r.json {
		return line(r.out, movesLine{"moves", m})
	}
	refused := ""
	if m.Reason != "" {
		refused = "; --apply refuses that without --allow-moves: " + m.Reason
	}
	return r.print("%d of %d rows would move below lost+found or up%s\n", m.Moves, m.Rows, refused)
}

func (r *report) problem(p fsck.Problem) error {
	return r.detail(problemLine{"problem", p}, "%v\n", p)
}

func (r *report) left(p fsck.Problem) error {
	return r.detail(problemLine{"left", p}, "left: %v\n", p)
}

func (r *report) skipped(s fsck.Skip) error {
	return r.detail(skipLine{"skipped", s}, "skipped: %v\n", s)
}

func (r *report) change(c fsck.Change) error {
	verb := "change"
	if c.Insert {
		verb = "create"
	}
	of := ""
	if c.Table != r.table {
		of = " of " + c.Table // a leaf
	}
	return r.detail(changeLine{"change", c}, "%s: tree %v, row %v%s, %s: %s -> %s (%s)\n", verb, c.Tree, c.ID, of, c.Column, written(c.Old), written(c.New), c.Why)
}

// detail writes a line of the report, unless only the summary is wanted.
func (r *report) detail(object any, format string, args ...any) error {
	switch {
	case r.quiet:
		return nil
	case r.json:
		return line(r.out, object)
	default:
		return r.print(format, args...)
	}
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

// checked ends the report of a check.
func (r *report) checked(s fsck.Summary) error {
	if r.json {
		return line(r.out, checkLine{"summary", s})
	}
	return r.print("%s\n", count(s))
}

// repaired ends the report of a repair.
func (r *report) repaired(s fsck.RepairSummary, applied, complete bool) error {
	if r.json {
		return line(r.out, repairLine{"summary", applied, complete, s})
	}
	switch {
	case !complete:
		return r.print("ended early after %d changes in %d transactions; run it again to continue\n", s.Changes, s.Transactions)
	case !applied:
		return r.print("%s\n%d values would be changed, %d problems would be left if the database takes them all; nothing has been written (--apply does)\n", count(s.Before), s.Changes, s.After.Total())
	default:
		skipped := ""
		if s.Skipped > 0 {
			skipped = fmt.Sprintf(", %d rows or trees skipped", s.Skipped)
		}
		return r.print("%s\n%d values changed in %d transactions%s, %d problems left\n", count(s.Before), s.Changes, s.Transactions, skipped, s.After.Total())
	}
}

// count returns a summary for people.
func count(s fsck.Summary) string {
	text := fmt.Sprintf("%d rows, %d problems", s.Rows, s.Total())
	for _, kind := range slices.Sorted(maps.Keys(s.Problems)) {
		text += fmt.Sprintf(", %d %s", s.Problems[kind], kind)
	}
	return text
}

func (r *report) print(format string, args ...any) error {
	if _, err := io.WriteString(r.out, printable(fmt.Sprintf(format, args...))); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// line writes an object as a line of JSON.
func line(out io.Writer, object any) error {
	text, err := json.Marshal(object)
	if err == nil {
		_, err = io.WriteString(out, escaped(string(text))+"\n")
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
