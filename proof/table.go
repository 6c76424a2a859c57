package main

import (
	"fmt"
	"regexp"
	"strconv"
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
		"every path is right at every commit",
		"random writes against a model, and races at every step, on SQLite, MySQL, MariaDB and PostgreSQL: TestSQLiteRaces, TestPostgres, TestMySQL",
		byTests, "writes that bypass the plugin; several writable servers",
	},
	{
		"siblings have distinct names",
		"the same; the schema that Verify asks for: TestSchema",
		byTests, "a table without the unique index",
	},
	{
		"conflicting requests queue; first come, first served, without starvation",
		"{TestQueue_smallWorld states} states of three owners, two of them in every order of commands, {TestQueue_smallWorld commands} transitions; the Redis scripts in {TestScripts_smallWorld commands} of these and {TestScripts_smallWorld random} random ones, and on a real server in {TestScripts_realRedis random}",
		byProve, "more than three owners at once",
	},
	{
		"all or nothing within a tree; two holders never conflict while leases hold",
		"{TestSimulation worlds} simulated worlds, {TestSimulation hours} hours, {TestSimulation grants} grants, {TestSimulation faults} faults",
		byProve, "a suspended process: TestConformance, by signals",
	},
	{
		"nothing is left of a crashed instance after one lease; no call outlasts its wait and the time-out; what was refused is granted to nobody",
		"the same worlds; {TestSimulation calls} calls",
		byProve, "stores other than Redis: TestConformance, on real servers",
	},
	{
		"a lock's context ends with its lease",
		"the same worlds: a server that forgets or whose clock jumps among them",
		byProve, "a host's clocks: TestRenewer",
	},
}

var number = regexp.MustCompile(`\{(.*?)\}`)

// print prints the table, in Markdown.
func (r results) print() {
	fmt.Println("\n| guarantee | tried | how to see it again | not covered |\n| --- | --- | --- | --- |")
	for _, row := range rows {
		tried := number.ReplaceAllStringFunc(row.tried, func(name string) string { return thousands(r[name[1:len(name)-1]]) })
		fmt.Printf("| %s | %s | %s | %s |\n", row.guarantee, tried, row.command, row.open)
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
