package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

// grid is a table for people. Columns are aligned, and the rightmost one is cut where a line would
// be wider than the terminal.
type grid struct {
	width int
	rows  [][]string
}

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
		lines = append(lines, cut(strings.TrimRight(b.String(), " "), g.width))
	}
	return lines
}

// cut shortens a line to a width on the screen.
func cut(line string, width int) string {
	if uniseg.StringWidth(line) <= width {
		return line
	}
	var b strings.Builder
	room := width - 1
	for graphemes := uniseg.NewGraphemes(line); graphemes.Next() && graphemes.Width() <= room; {
		room -= graphemes.Width()
		b.WriteString(graphemes.Str())
	}
	return b.String() + "…"
}
