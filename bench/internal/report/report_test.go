package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/stats"
)

// table is one in which ours takes twice as long as theirs, in every round but one.
func table() report.Table {
	return report.NewTable("depth-3", "latency, depth 3", "µs", "theirs", []string{"ours", "theirs"}, [][]float64{{20, 40, 33}, {10, 20, 11}})
}

func TestTableComparesWithTheBaselineRoundByRound(t *testing.T) {
	tab := table()
	ours, _ := tab.Row("ours")
	if ours.Value != 33 {
		t.Errorf("the median of ours is %v, want 33", ours.Value)
	}
	want := stats.Spread{Median: 2, Min: 2, Low: 2, High: 2.5, Max: 3}
	if ours.Ratio == nil || *ours.Ratio != want {
		t.Errorf("the ratio of ours is %+v, want %+v", ours.Ratio, want)
	}
	if theirs, _ := tab.Row("theirs"); theirs.Ratio != nil {
		t.Errorf("the baseline has a ratio to itself: %+v", theirs.Ratio)
	}
	back, err := tab.Ratio("theirs", "ours")
	if err != nil || back.Median != 0.5 {
		t.Errorf("the other way round: %+v, %v, want a median of 0.5", back, err)
	}
	if _, err := tab.Ratio("ours", "nobody"); err == nil {
		t.Error("no error for a contender that the table does not have")
	}
	without := report.NewTable("", "", "ns", "", []string{"ours"}, [][]float64{{1}})
	if without.Rows[0].Ratio != nil {
		t.Error("a ratio without a baseline")
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name     string
		relation report.Relation
		limit    float64
		median   float64
		reached  bool
		missedBy float64
		verdict  string
	}{
		{"at most, below", report.AtMost, 2, 1.5, true, 0, "reached"},
		{"at most, at the limit", report.AtMost, 2, 2, true, 0, "reached"},
		{"at most, above", report.AtMost, 2, 3, false, 0.5, "MISSED by 50 %"},
		{"under, at the limit", report.Under, 2, 2, false, 0, "MISSED by 1 %"},
		{"under, below", report.Under, 2, 1.99, true, 0, "reached"},
		{"at least, above", report.AtLeast, 60, 61, true, 0, "reached"},
		{"at least, at the limit", report.AtLeast, 60, 60, true, 0, "reached"},
		{"at least, below", report.AtLeast, 60, 15, false, 0.75, "MISSED by 75 %"},
		{"nothing allowed, nothing there", report.AtMost, 0, 0, true, 0, "reached"},
		{"nothing allowed", report.AtMost, 0, 3, false, 3, "MISSED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := report.Judge(report.Target{Relation: tt.relation, Limit: tt.limit, Measured: stats.Spread{Median: tt.median}})
			if got.Reached != tt.reached || got.MissedBy != tt.missedBy || got.Verdict() != tt.verdict {
				t.Errorf("reached %v, missed by %v, %q; want %v, %v, %q", got.Reached, got.MissedBy, got.Verdict(), tt.reached, tt.missedBy, tt.verdict)
			}
		})
	}
}

// sample is a report with one target that was reached and one that was not.
func sample() report.Report {
	tab := table()
	ratio, _ := tab.Ratio("ours", "theirs")
	return report.Report{
		Schema: report.Schema, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seconds: 61, Rounds: 3,
		Machine: report.Machine{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Redis: "7.0.15"},
		Modules: map[string]string{"example.org/b": "v2.0.0", "example.org/a": "v1.0.0"},
		Sections: []report.Section{{
			Name: "latency", Question: "how long?", Seconds: 60, Tables: []report.Table{tab},
			Targets: []report.Target{
				report.Judge(report.Target{ID: "near", What: "ours against theirs", Relation: report.AtMost, Limit: 2.5, Measured: ratio}),
				report.Judge(report.Target{ID: "far", What: "ours in all", Relation: report.Under, Limit: 22, Unit: "µs", Measured: stats.SpreadOf([]float64{20, 40, 33})}),
			},
			Notes: []string{"measured by hand"},
		}},
	}
}

func TestTextForPeople(t *testing.T) {
	r := sample()
	var b bytes.Buffer
	if err := r.WriteHeader(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.Sections[0].WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	// Runs of spaces only align columns.
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"pathlock bench: 3 rounds",
		"go1.26.0, linux/amd64, 2 CPUs, Redis 7.0.15",
		"example.org/a v1.0.0",
		"example.org/b v2.0.0",
		"",
		"== latency: how long? (60 s)",
		"",
		"latency, depth 3",
		"µs ratio quartiles min..max",
		"ours 33.0 2.00 2.00..2.50 2.00..3.00",
		"theirs 11.0 1",
		"",
		"ours against theirs at most 2.50 2.00 (2.00..3.00) reached",
		"ours in all under 22.0 µs 33.0 µs (20.0..40.0) MISSED by 50 %",
		"note: measured by hand",
		"",
		"== targets: 1 of 2 reached (61 s)",
		"",
		"ours against theirs at most 2.50 2.00 (2.00..3.00) reached",
		"ours in all under 22.0 µs 33.0 µs (20.0..40.0) MISSED by 50 %",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the text is\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// Other programs rely on the names of the fields.
func TestJSONForPrograms(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		where string
		want  any
	}{
		{"schema", "pathlock-bench/1"},
		{"started", "2026-01-02T03:04:05Z"},
		{"rounds", 3.0},
		{"quick", false},
		{"machine.redis", "7.0.15"},
		{"modules.example.org/a", "v1.0.0"},
		{"sections.0.name", "latency"},
		{"sections.0.tables.0.id", "depth-3"},
		{"sections.0.tables.0.unit", "µs"},
		{"sections.0.tables.0.baseline", "theirs"},
		{"sections.0.tables.0.rows.0.contender", "ours"},
		{"sections.0.tables.0.rows.0.value", 33.0},
		{"sections.0.tables.0.rows.0.rounds.1", 40.0},
		{"sections.0.tables.0.rows.0.ratio.median", 2.0},
		{"sections.0.tables.0.rows.0.ratio.high", 2.5},
		{"sections.0.tables.0.rows.1.ratio", nil},
		{"sections.0.targets.0.id", "near"},
		{"sections.0.targets.0.relation", "at most"},
		{"sections.0.targets.0.limit", 2.5},
		{"sections.0.targets.0.reached", true},
		{"sections.0.targets.1.reached", false},
		{"sections.0.targets.1.missed_by", 0.5},
		{"sections.0.targets.1.measured.median", 33.0},
	} {
		if value := dig(got, tt.where); value != tt.want {
			t.Errorf("%s is %v, want %v", tt.where, value, tt.want)
		}
	}
}

// dig follows a path such as sections.0.name into decoded JSON. The name of a module has dots, too.
func dig(value any, way string) any {
	for way != "" {
		step, rest, _ := strings.Cut(way, ".")
		switch v := value.(type) {
		case map[string]any:
			if whole, ok := v[way]; ok {
				return whole
			}
			value = v[step]
		case []any:
			value = v[step[0]-'0']
		default:
			return nil
		}
		way = rest
	}
	return value
}
