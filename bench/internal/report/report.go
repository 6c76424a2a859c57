package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// Schema names the format of the JSON. It changes when a change would break readers.
const Schema = "pathlock-bench/1"

// Report is one run.
type Report struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	// Seconds is how long the run took.
	Seconds float64 `json:"seconds"`
	Quick   bool    `json:"quick"`
	Rounds  int     `json:"rounds"`
	Machine Machine `json:"machine"`
	// Modules are the versions of the modules that were measured, by path.
	Modules  map[string]string `json:"modules"`
	Sections []Section         `json:"sections"`
}

// Machine describes the machine of the run.
type Machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	CPUs  int    `json:"cpus"`
	Go    string `json:"go"`
	Redis string `json:"redis"`
}

// Section is one question, with the tables that answer it and the targets that they are judged by.
type Section struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Seconds  float64  `json:"seconds"`
	Tables   []Table  `json:"tables"`
	Targets  []Target `json:"targets"`
	// Notes say what a reader has to know about the measurement.
	Notes []string `json:"notes,omitempty"`
}

// Table has the measurements of one kind under one condition.
type Table struct {
	// ID is unique in its section. It stays the same when the title changes.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Unit is that of Value and Rounds: µs, ns, /s, bytes, scripts, …
	Unit string `json:"unit"`
	// Baseline is the contender that ratios refer to, "" if there are none.
	Baseline string `json:"baseline,omitempty"`
	Rows     []Row  `json:"rows"`
}

// Row is one contender's measurement.
type Row struct {
	Contender string `json:"contender"`
	// Value is the median of Rounds, which has the result of each round.
	Value  float64   `json:"value"`
	Rounds []float64 `json:"rounds"`
	// Ratio compares the rounds with the same rounds of the baseline. It is nil for the baseline
	// itself, and if there is none.
	Ratio *stats.Spread `json:"ratio,omitempty"`
}

// NewTable makes a table of measurements: rounds[i] are those of contenders[i]. The baseline is one
// of the contenders, or "".
func NewTable(id, title, unit, baseline string, contenders []string, rounds [][]float64) Table {
	t := Table{ID: id, Title: title, Unit: unit, Baseline: baseline}
	var base []float64
	for i, name := range contenders {
		if name == baseline {
			base = rounds[i]
		}
	}
	for i, name := range contenders {
		row := Row{Contender: name, Value: stats.Median(rounds[i]), Rounds: rounds[i]}
		if base != nil && name != baseline {
			ratio := stats.SpreadOf(stats.Ratios(rounds[i], base))
			row.Ratio = &ratio
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Row returns the row of a contender.
func (t Table) Row(contender string) (Row, bool) {
	for _, r := range t.Rows {
		if r.Contender == contender {
			return r, true
		}
	}
	return Row{}, false
}

// Ratio compares a contender with another one, round by round, whatever the table's baseline is.
func (t Table) Ratio(contender, baseline string) (stats.Spread, error) {
	a, okA := t.Row(contender)
	b, okB := t.Row(baseline)
	if !okA || !okB {
		return stats.Spread{}, fmt.Errorf("the table %q does not have both %q and %q", t.ID, contender, baseline)
	}
	return stats.SpreadOf(stats.Ratios(a.Rounds, b.Rounds)), nil
}

// WriteJSON writes the report for programs. The README describes its fields.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
