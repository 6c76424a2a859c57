package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// row is a guarantee of README.md, what has been done to break it, and what has not. A name in
// braces stands for a number that a test reports.
type row struct{ guarantee, tried, command, open string }

const (
	byProve = "`make prove`"
	byTests = "`make test`"
)

var rows = []row{
	{
		"at every commit, each path is the parent's path + \"/\" + name; no orphans, no cycles",
		"anomalies, random statements against a model, storms, on four databases: TestSQLiteRaces, TestStatements, TestPostgresStorms, TestMySQLStorms",
		byTests, "writes that bypass the plugin; several writable servers",
	},
	{
		"an answer says what happened, once, in an order that its clients could see; a refusal was possible",
		"histories of three instances of the sample app, judged by porcupine: {TestHistories_SQLite histories} on SQLite, {TestHistories_MariaDB histories} on MariaDB, {TestHistories_MySQL histories} on MySQL, {TestHistories_PostgreSQL histories} on PostgreSQL, with Redis; clients give up, processes are killed, networks fail",
		byProve, "that a 423, a path-changed or a 503 was called for; the times of waits; purges, plans' names, and locks that outlive requests",
	},
	{"siblings have distinct names", "the same, and TestSchema", byTests, "tables without the unique index"},
	{
		"few aborts: conflicting requests queue",
		"no waiter that could be let in is left waiting, in the states of the next row",
		byProve, "how many aborts there are: `make bench`",
	},
	{
		"first come, first served, without starvation",
		"the queue: {TestQueue_smallWorld states} different states of three owners and three nodes, {TestQueue_smallWorld commands} transitions: {TestQueue_smallWorld whole} of two smaller worlds whole, and every order of {TestQueue_smallWorld depth} commands with six requests at once; {TestQueue_randomWorld commands} random commands of five owners. The Redis scripts: {TestScripts_smallWorld commands} of these in order and {TestScripts_smallWorld random} at random, {TestScripts_realRedis random} on a real server",
		byProve, "every order with four owners and more; apart grants; a holder's request for the gate on Redis; states that differ only in names, or in the order of grants, count as one",
	},
	{
		"all or nothing within a tree; holders never conflict while leases hold",
		"{TestSimulation worlds} simulated worlds of three instances, {TestSimulation hours} hours, {TestSimulation grants} grants, {TestSimulation faults} faults",
		byProve, "several trees at once; Sentinel and Cluster",
	},
	{
		"a crashed instance leaves nothing after one lease; a call ends in time; what failed is granted to nobody",
		"the same worlds, {TestSimulation calls} calls, every third of them a request through the middleware",
		byProve, "SQL, etcd and ZooKeeper beneath the tickets: their TestConformance; with faults, whether what was released stays so",
	},
	{
		"a lock's context ends with its lease by the clock",
		"the same worlds; among them servers that forget, fall back, or whose clock jumps",
		byProve, "a suspended host: lease_test.go",
	},
}

var number = regexp.MustCompile(`\{(.*?)\}`)

// table is the table, in Markdown.
func (r results) table() string {
	text := "| guarantee | tried | how to see it again | not covered |\n| --- | --- | --- | --- |\n"
	for _, row := range rows {
		tried := number.ReplaceAllStringFunc(row.tried, func(name string) string { return thousands(r[name[1:len(name)-1]]) })
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", row.guarantee, tried, row.command, row.open)
	}
	return text
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// page is where the latest tables stand for those who do not run the program themselves.
const page = "proof/README.md"

// writeSection replaces what stands below a heading of the page, up to the next one, by a table.
// began is when the program has begun to fill it.
func writeSection(heading, table string, began time.Time) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		return fmt.Errorf("%s has no heading %q", page, heading)
	}
	_, after, more := strings.Cut(rest, "\n## ")
	if more {
		after = "\n## " + after
	}
	section := fmt.Sprintf("\n%s, in %v, on %d processors:\n\n%s", began.Format(time.DateOnly), time.Since(began).Round(time.Minute), runtime.GOMAXPROCS(0), table)
	return os.WriteFile(page, []byte(before+"\n## "+heading+"\n"+section+after), 0o600)
}
