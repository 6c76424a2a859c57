package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteHeader writes the description of a run, before its sections.
func (r Report) WriteHeader(w io.Writer) error {
	form := ""
	if r.Quick {
		form = ", the short form: its numbers are not to be relied upon"
	}
	m := r.Machine
	var b strings.Builder
	fmt.Fprintf(&b, "pathlock bench: %d rounds%s\n%s, %s/%s, %d CPUs, Redis %s\n", r.Rounds, form, m.Go, m.OS, m.Arch, m.CPUs, m.Redis)
	var modules []string
	for path := range r.Modules {
		modules = append(modules, path)
	}
	slices.Sort(modules)
	for _, path := range modules {
		fmt.Fprintf(&b, "  %s %s\n", path, r.Modules[path])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes a section for people.
func (s Section) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n== %s: %s (%.0f s)\n", s.Name, s.Question, s.Seconds)
	for _, t := range s.Tables {
		t.writeText(&b)
	}
	if len(s.Targets) > 0 {
		b.WriteByte('\n')
		writeTargets(&b, s.Targets)
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "   note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeText writes one table: the median of each contender, and its ratio with quartiles and
// extremes.
func (t Table) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\n   %s\n", t.Title)
	head := []string{"", t.Unit, "min..max"}
	if t.Baseline != "" {
		head = []string{"", t.Unit, "ratio", "quartiles", "min..max"}
	}
	lines := [][]string{head}
	for _, r := range t.Rows {
		line := []string{r.Contender, number(r.Value)}
		switch {
		case t.Baseline == "":
			line = append(line, interval(slices.Min(r.Rounds), slices.Max(r.Rounds)))
		case r.Ratio == nil:
			line = append(line, "1", "", "")
		default:
			line = append(line, number(r.Ratio.Median), interval(r.Ratio.Low, r.Ratio.High), interval(r.Ratio.Min, r.Ratio.Max))
		}
		lines = append(lines, line)
	}
	writeColumns(b, tabwriter.AlignRight, lines)
}

// WriteSummary writes the targets of all sections in one table, and how many were reached.
func (r Report) WriteSummary(w io.Writer) error {
	var all []Target
	reached := 0
	for _, s := range r.Sections {
		for _, t := range s.Targets {
			all = append(all, t)
			if t.Reached {
				reached++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n== targets: %d of %d reached (%.0f s)\n\n", reached, len(all), r.Seconds)
	writeTargets(&b, all)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTargets writes targets next to their measurements.
func writeTargets(b *strings.Builder, targets []Target) {
	var lines [][]string
	for _, t := range targets {
		unit := t.Unit
		if unit != "" {
			unit = " " + unit
		}
		lines = append(lines, []string{
			t.What, string(t.Relation) + " " + number(t.Limit) + unit, number(t.Measured.Median) + unit,
			"(" + interval(t.Measured.Min, t.Measured.Max) + ")", t.Verdict(),
		})
	}
	writeColumns(b, 0, lines)
}

// writeColumns writes lines with aligned cells.
func writeColumns(b *strings.Builder, flags uint, lines [][]string) {
	const indent = "   "
	// Writing to a strings.Builder cannot fail.
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', flags)
	end := "\n"
	if flags&tabwriter.AlignRight != 0 {
		end = "\t\n" // the last column, too, is only aligned where it ends
	}
	for _, cells := range lines {
		_, _ = io.WriteString(tab, indent+strings.Join(cells, "\t")+end)
	}
	_ = tab.Flush()
}

func interval(from, to float64) string { return number(from) + ".." + number(to) }

// number writes three significant digits, and all digits before the point.
func number(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
