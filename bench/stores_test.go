package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/section"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// shown returns the numbers of one column of a table in docs/stores.md, by contender. The table is
// the one that has the heading.
func shown(t *testing.T, heading string) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "stores.md"))
	if err != nil {
		t.Fatal(err)
	}
	found, column := map[string]string{}, -1
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "|") {
			column = -1
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		for i, c := range cells {
			if c == heading {
				column = i
			}
		}
		if column >= 0 && cells[column] != heading && !strings.HasPrefix(cells[0], "---") {
			found[cells[0]] = cells[column]
		}
	}
	if len(found) == 0 {
		t.Fatalf("docs/stores.md has no column %q", heading)
	}
	return found
}

// The round trips and requests in docs/stores.md are those that are measured. They do not depend on
// the machine.
func TestStoresCostWhatThePageSays(t *testing.T) {
	needRedisServer(t)
	args := []string{"-quick", "-rounds", "1", "-run", "^stores$"}
	for _, server := range testserver.MySQLServers(t) {
		if server.Product == testserver.MariaDB {
			args = append(args, "-mysql", server.DSN)
		} else {
			t.Setenv(section.OracleVariable, server.DSN)
		}
	}
	_, r := bench(t, args...)
	tables := map[string]report.Table{}
	for _, table := range r.Sections[0].Tables {
		tables[table.ID] = table
	}
	var missing []string
	for heading, of := range map[string]struct {
		tables  []string
		exactly bool
	}{
		"round trips": {[]string{"trips-acquire", "trips-release"}, false},
		"requests":    {[]string{"requests-alone"}, true},
	} {
		for name, says := range shown(t, heading) {
			measured, there := 0.0, true
			for _, id := range of.tables {
				row, ok := tables[id].Row(name)
				there = there && ok
				if !ok {
					continue
				}
				// What is above a whole number is computing, which may take long on a busy machine.
				if measured += math.Floor(slices.Min(row.Rounds)); of.exactly {
					measured = row.Value
				}
			}
			if !there {
				missing = append(missing, name)
				continue
			}
			if want := fmt.Sprint(measured); says != want && says != want+" statements" {
				t.Errorf("%s: %s %s, and the page says %s", name, want, heading, says)
			}
		}
	}
	if len(missing) > 0 {
		testserver.Missing(t, fmt.Sprintf("the servers of %q", missing))
	}
}
