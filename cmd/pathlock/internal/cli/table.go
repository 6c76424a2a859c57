package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

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
