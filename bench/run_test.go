package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/bench/internal/mariadb"
	"github.com/pathlock-go/pathlock/bench/internal/redisserver"
	"github.com/pathlock-go/pathlock/bench/internal/report"
	"github.com/pathlock-go/pathlock/bench/internal/section"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// needRedisServer skips the test if there is no redis-server. In CI, it fails.
func needRedisServer(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		testserver.Missing(t, err.Error())
	}
}

// bench runs the command and returns what it printed and what it wrote as JSON.
func bench(t *testing.T, args ...string) (string, report.Report) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "results.json")
	var out bytes.Buffer
	if err := start(t.Context(), append(args, "-json", file), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatalf("the JSON cannot be read: %v\n%s", err, text)
	}
	return out.String(), r
}

func TestShortFormOfSectionsOnARealServer(t *testing.T) {
	needRedisServer(t)
	out, r := bench(t, "-quick", "-run", "^(waiters|wakeup|drain|scripts|replicas|givingup)$")

	if r.Schema != report.Schema || !r.Quick || r.Rounds != section.Quick().Rounds || r.Machine.Redis == "" {
		t.Errorf("the report does not say what was run: %+v", r)
	}
	checkSections(t, out, r, map[string]int{"waiters": 6, "wakeup": 2, "drain": 2, "scripts": 2, "replicas": 0, "givingup": 1})
}

// Sections with rounds of their own have one round in a short run.
func TestShortFormOfSectionsOfOneRound(t *testing.T) {
	needRedisServer(t)
	out, r := bench(t, "-quick", "-rounds", "1", "-run", "^(renewal|deadlines|deadlocks)$")
	checkSections(t, out, r, map[string]int{"renewal": 2, "deadlines": 6, "deadlocks": 3})
}

// A held lock is renewed once in a third of its lease, whatever the number of trees.
func TestRenewalsAreCounted(t *testing.T) {
	needRedisServer(t)
	_, r := bench(t, "-quick", "-rounds", "1", "-run", "^renewal$")
	for _, table := range r.Sections[0].Tables {
		if !strings.HasPrefix(table.ID, "renewed-") {
			continue
		}
		for _, row := range table.Rows {
			if row.Value <= 0 || row.Value > 2 {
				t.Errorf("%s: %s: %v leases renewed in a period, per tree", table.ID, row.Contender, row.Value)
			}
		}
	}
}

func TestShortFormOfSectionsOnADatabase(t *testing.T) {
	if _, err := mariadb.Program("mariadbd"); err != nil {
		testserver.Missing(t, err.Error())
	}
	out, r := bench(t, "-quick", "-run", "^(gorm|statements)", "-mysql", os.Getenv(testserver.MySQLVariable))
	checkSections(t, out, r, map[string]int{"statements": 10, "gorminsert": 6, "gormrename": 1, "gormuntagged": 4})
}

func TestShortFormOfTheSectionByHTTP(t *testing.T) {
	needRedisServer(t)
	if _, err := mariadb.Program("mariadbd"); err != nil {
		testserver.Missing(t, err.Error())
	}
	out, r := bench(t, "-quick", "-rounds", "1", "-run", "^http$")
	checkSections(t, out, r, map[string]int{"http": 6})
}

// checkSections checks that each section has measurements and the expected number of judged
// targets.
func checkSections(t *testing.T, out string, r report.Report, targets map[string]int) {
	t.Helper()
	if len(r.Sections) != len(targets) {
		t.Fatalf("%d sections, want %d", len(r.Sections), len(targets))
	}
	for _, s := range r.Sections {
		if len(s.Targets) != targets[s.Name] {
			t.Errorf("section %s has %d targets, want %d", s.Name, len(s.Targets), targets[s.Name])
		}
		for _, table := range s.Tables {
			for _, row := range table.Rows {
				counted := table.Unit == "statements"
				mayBeNone := table.ID == "added" || strings.HasPrefix(table.ID, "lost-") || table.ID == "failed" || strings.HasPrefix(table.ID, "refused-") || strings.HasPrefix(table.ID, "kinds-")
				if len(row.Rounds) != r.Rounds && !counted || row.Value <= 0 && !mayBeNone {
					t.Errorf("%s, %s: %s measured %v", s.Name, table.ID, row.Contender, row.Rounds)
				}
			}
		}
		for _, target := range s.Targets {
			if judged := report.Judge(target); judged != target {
				t.Errorf("the target %q is not judged by what was measured: %+v", target.What, target)
			}
			if !strings.Contains(out, target.What) || !strings.Contains(out, target.Verdict()) {
				t.Errorf("the target %q is not in the output", target.What)
			}
		}
	}
}

// A waiter asks once and releases once. Fewer than two scripts mean that somebody did not count or
// did not wait.
func TestWaitersAreCounted(t *testing.T) {
	needRedisServer(t)
	_, r := bench(t, "-quick", "-rounds", "1", "-run", "^drain$")
	for _, table := range r.Sections[0].Tables {
		if table.ID != "scripts" {
			continue
		}
		for _, row := range table.Rows {
			if row.Value < 2 {
				t.Errorf("%s: %v scripts per waiter, though each waits and releases", row.Contender, row.Value)
			}
		}
	}
}

// Every timed operation also has the server's processor time, for busy machines.
func TestProcessorTimeOfEveryContender(t *testing.T) {
	needRedisServer(t)
	_, r := bench(t, "-quick", "-rounds", "1", "-run", "^(latency|throughput)$")
	for _, s := range r.Sections {
		tables := make(map[string]report.Table)
		for _, table := range s.Tables {
			tables[table.ID] = table
		}
		for id, table := range tables {
			if strings.HasPrefix(id, "cpu-") {
				continue
			}
			cpu := tables["cpu-"+id]
			if len(cpu.Rows) != len(table.Rows) {
				t.Errorf("%s: %s has %d rows, its processor time %d", s.Name, id, len(table.Rows), len(cpu.Rows))
			}
			for _, row := range cpu.Rows {
				if _, ok := table.Row(row.Contender); !ok || row.Value <= 0 {
					t.Errorf("%s: %s of %s is %v %s", s.Name, cpu.ID, row.Contender, row.Value, cpu.Unit)
				}
			}
		}
	}
}

func TestNothingIsLeftOnAServerThatIsNotOurs(t *testing.T) {
	needRedisServer(t)
	server, err := redisserver.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Set(t.Context(), "bench-of-somebody-else", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	before, err := client.DBSize(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	_, r := bench(t, "-quick", "-rounds", "1", "-run", "^(held|waiters|renewal|deadlines|deadlocks|memory|scripts|replicas)$", "-redis", server.URL())
	if s := r.Sections[len(r.Sections)-1]; s.Name != "replicas" || len(s.Tables) != 0 || len(s.Notes) == 0 {
		t.Errorf("a server that is not ours was given a replica, or nothing says that it was not: %+v", s)
	}
	after, err := client.DBSize(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("%d keys, there were %d", after, before)
	}
}

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		args   string
		fails  string // what the error says, "" if there is none
		rounds int
		names  string
	}{
		{"", "", 7, "latency throughput held waiters renewal deadlines memory wakeup drain stores scripts deadlocks replicas reentry local givingup middleware statements gorminsert gormrename gormuntagged http"},
		{"-quick", "", 3, "latency throughput held waiters renewal deadlines memory wakeup drain stores scripts deadlocks replicas reentry local givingup middleware statements gorminsert gormrename gormuntagged http"},
		{"-quick -rounds 9", "", 9, "latency throughput held waiters renewal deadlines memory wakeup drain stores scripts deadlocks replicas reentry local givingup middleware statements gorminsert gormrename gormuntagged http"},
		{"-run ^(local|held)$", "", 7, "held local"},
		{"-run nothing", "no section has such a name", 0, ""},
		{"-run (", "-run", 0, ""},
		{"-rounds -1", "at least one round", 0, ""},
		{"-undefined", "not defined", 0, ""},
		{"argument", "is not a flag", 0, ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			o, err := parseOptions(strings.Fields(tt.args))
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("the error is %v, want one that says %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range o.sections {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, " "); got != tt.names || o.plan.Rounds != tt.rounds {
				t.Errorf("%d rounds of %s, want %d of %s", o.plan.Rounds, got, tt.rounds, tt.names)
			}
		})
	}
}
