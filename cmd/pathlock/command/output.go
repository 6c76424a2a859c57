package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// output is what a command writes: a report, for people or as lines of JSON, and messages beside
// it.
type output struct {
	out, errs io.Writer
	// report is a buffer before out, and failed says why the report cannot be written.
	report *bufio.Writer
	failed error
}

func newOutput(out, errs io.Writer) *output {
	return &output{out: out, errs: errs, report: bufio.NewWriter(out)}
}

// warn writes a message, which is not part of the report.
func (o *output) warn(text string) { _, _ = fmt.Fprintln(o.errs, "pathlock:", printable(text)) }

// text writes lines of the report for people.
func (o *output) text(lines ...string) {
	for _, text := range lines {
		o.write(printable(text) + "\n")
	}
}

// object writes a line of the report in JSON.
func (o *output) object(v any) {
	text, err := json.Marshal(v)
	o.fail(err)
	o.write(escaped(string(text)) + "\n")
}

// say writes a part of the report in JSON, or as lines for people.
func (o *output) say(json bool, object any, lines ...string) {
	if json {
		o.object(object)
	} else {
		o.text(lines...)
	}
}

// typed is an object whose JSON begins with its type.
type typed struct {
	kind string
	is   any
}

// MarshalJSON implements [json.Marshaler].
func (t typed) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(t.is)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"type":"`+t.kind+`",`), text[1:]...), nil
}

func (o *output) write(text string) {
	_, err := o.report.WriteString(text)
	o.fail(err)
}

// flush empties the buffer, and returns the error of any write so far.
func (o *output) flush() error {
	o.fail(o.report.Flush())
	return o.failed
}

func (o *output) fail(err error) {
	if err != nil && o.failed == nil {
		o.failed = fmt.Errorf("write the report: %w", err)
	}
}

// printable escapes, as Go does in quotes, what a terminal would interpret, such as an escape
// sequence in a name. It keeps line ends, and shows a byte that is no text as U+FFFD.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// escaped escapes the control characters that JSON allows in a string, but that some terminals
// interpret.
func escaped(json string) string {
	var b strings.Builder
	for _, r := range json {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// grid is a table for people, with aligned columns.
type grid struct{ rows [][]string }

// gap is between two columns.
const gap = 2

// add adds a row. Cells are made printable, on one line.
func (g *grid) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(printable(cell), "\n", `\n`)
	}
	g.rows = append(g.rows, cells)
}

// lines returns the rows as lines.
func (g *grid) lines() []string {
	var widths []int
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	var lines []string
	for _, row := range g.rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)+gap))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
