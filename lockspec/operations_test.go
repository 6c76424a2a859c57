package lockspec_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

var update = flag.Bool("update", false, "write docs/operations.md and the tables of its translation anew")

// The documentation says what the code does: it is written by
//
//	go test ./lockspec -run Documentation -update
func TestDocumentationIsCurrent(t *testing.T) {
	var english bytes.Buffer
	writeOperations(t, &english)
	current(t, "../docs/operations.md", func(string) string { return english.String() })
	current(t, "../docs/operations.zh-CN.md", func(page string) string {
		// The prose has the one number that is in no table.
		count := regexp.MustCompile(`\((\d+) pairs\)`).FindStringSubmatch(english.String())
		if !strings.Contains(page, "（"+count[1]+" 对）") {
			t.Errorf("the Chinese page does not say that there are %s such pairs", count[1])
		}
		return inChinese(t, page, english.String())
	})
}

// current compares a page with what it should be, or writes it.
func current(t *testing.T, file string, should func(page string) string) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := should(string(got))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(got) != want {
		t.Errorf("%s is not what the code says: run go test ./lockspec -run Documentation -update", file)
	}
}

// at makes the source of an id in the documentation, where the ids are paths.
func at(path string) lockspec.Source { return lockspec.Const(path) }

// called makes the source of a name.
func called(name string) lockspec.Source { return lockspec.Const(name) }

// bound returns what a spec of constants locks in the tree testplan/plan-001.
func bound(t *testing.T, s lockspec.Spec) []pathlock.Request {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		t.Fatal(err)
	}
	lacking := func(lockspec.Source) (string, bool, error) { return "", false, nil }
	b, err := s.Bind(lacking, func(_, id string) (pathlock.Location, error) {
		p, err := pathlock.ParsePath(id)
		return pathlock.Location{Tree: tree, Path: p}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Requests
}

// collide says whether two lists of requests cannot be held at once.
func collide(a, b []pathlock.Request) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Tree == y.Tree && (x.Gate || y.Gate || conflict(x.Claims, y.Claims)) {
				return true
			}
		}
	}
	return false
}

// locks writes requests for people: first what is claimed, then the intentions.
func locks(requests []pathlock.Request) string {
	var parts []string
	for _, r := range requests {
		if r.Gate {
			parts = append(parts, fmt.Sprintf("the gate of `%s`", r.Tree))
			continue
		}
		set := pathlock.Normalize(r.Claims...)
		var intentions []string
		for _, c := range set {
			if !slices.ContainsFunc(r.Claims, func(own pathlock.Claim) bool { return own.Path == c.Path }) {
				intentions = append(intentions, c.String())
				continue
			}
			parts = append(parts, "**`"+c.String()+"`**")
		}
		if len(intentions) > 0 {
			parts = append(parts, "`"+strings.Join(intentions, "`, `")+"`")
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// driveOperation is one operation of a cloud drive, as a row of the first table.
type driveOperation struct {
	what, code string
	spec       lockspec.Spec
}

func driveOperations() []driveOperation {
	gate := lockspec.Gate(at("/"))
	names := lockspec.Names("project", lockspec.Const("42"))
	// nowhere is a source that a request has no value for.
	nowhere := lockspec.JSON("parent_id")
	return []driveOperation{
		{"new folder `n` in `/a`", "Insert(parent, name)", lockspec.Insert(at("/a"), called("n"))},
		{"upload of a new file `n` to `/a`", "Insert(parent, name)", lockspec.Insert(at("/a"), called("n"))},
		{"new folder in `/a` whose name the handler chooses", "Insert(parent)", lockspec.Insert(at("/a"))},
		{"new folder `n` at the top, in a plan without a root row", "Insert(parent.OrTop(plan), name)", lockspec.Insert(nowhere.OrTop(at("/")), called("n"))},
		{"upload over the file `/a/f` (a new version)", "Edit(node)", lockspec.Edit(at("/a/f"))},
		{"rename of `/a/b` to `n`", "Rename(node, name)", lockspec.Rename(at("/a/b"), called("n"))},
		{"the same route, without a new name in the request", "Rename(node, name.Optional())", lockspec.Rename(at("/a/b"), lockspec.JSON("name").Optional())},
		{"move of `/a/b` to `/d`", "Move(node, dest)", lockspec.Move(at("/a/b"), at("/d"))},
		{"move of `/a/b` to `/d` as `n`", "Move(node, dest, name)", lockspec.Move(at("/a/b"), at("/d"), called("n"))},
		{"move of `/a/b` to the top", "Move(node, dest.OrTop())", lockspec.Move(at("/a/b"), nowhere.OrTop())},
		{"copy of `/a/b` to `/d` as `n`", "Copy(node, dest, name)", lockspec.Copy(at("/a/b"), at("/d"), called("n"))},
		{"the same, read from one snapshot", "Copy(…).SnapshotSource()", lockspec.Copy(at("/a/b"), at("/d"), called("n")).SnapshotSource()},
		{"delete of `/a/b` (to the recycle bin)", "Delete(node)", lockspec.Delete(at("/a/b"))},
		{"restore of `/a/x` from the recycle bin", "Slot(item)", lockspec.Slot(at("/a/x"))},
		{"purge of the recycle bin", "None(reason)", lockspec.None("touches no live path")},
		{"list or export of the subtree `/a/b`", "Read(node)", lockspec.Read(at("/a/b"))},
		{"change of `/a/f` that reads, thinks and writes back", "Slot(node)", lockspec.Slot(at("/a/f"))},
		{"anything with the whole plan", "Gate(plan)", gate},
		{"new plan", "Names(namespace, project)", names},
		{"rename or delete of a plan", "All(Names(…), Gate(…))", lockspec.All(names, gate)},
	}
}

// situation is one way in which two operations can stand to each other, with the operations of
// either side.
type situation struct {
	title, text   string
	rows, columns []driveOperation
}

// side returns the operations on one node, beside it, and into its folder.
func side(node, folder, dest, name string) []driveOperation {
	return []driveOperation{
		{what: "insert", spec: lockspec.Insert(at(folder), called(name))},
		{what: "restore", spec: lockspec.Slot(at(strings.TrimSuffix(folder, "/") + "/" + name))},
		{what: "edit", spec: lockspec.Edit(at(node))},
		{what: "rename", spec: lockspec.Rename(at(node), called(name))},
		{what: "move", spec: lockspec.Move(at(node), at(dest))},
		{what: "copy", spec: lockspec.Copy(at(node), at(dest), called(name))},
		{what: "snapshot copy", spec: lockspec.Copy(at(node), at(dest), called(name)).SnapshotSource()},
		{what: "delete", spec: lockspec.Delete(at(node))},
		{what: "export", spec: lockspec.Read(at(node))},
		{what: "whole plan", spec: lockspec.Gate(at("/"))},
	}
}

// wanting returns the operations that put something into /a under the name n.
func wanting(neighbour, other string) []driveOperation {
	return []driveOperation{
		{what: "insert", spec: lockspec.Insert(at("/a"), called("n"))},
		{what: "restore", spec: lockspec.Slot(at("/a/n"))},
		{what: "rename", spec: lockspec.Rename(at(neighbour), called("n"))},
		{what: "move", spec: lockspec.Move(at(other), at("/a"), called("n"))},
		{what: "copy", spec: lockspec.Copy(at(other), at("/a"), called("n"))},
		{what: "snapshot copy", spec: lockspec.Copy(at(other), at("/a"), called("n")).SnapshotSource()},
	}
}

func situations() []situation {
	onNode := func(ops []driveOperation) []driveOperation {
		return slices.DeleteFunc(ops, func(o driveOperation) bool { return o.what == "insert" || o.what == "restore" })
	}
	return []situation{{
		title: "In one folder, different nodes and different names",
		text: "Both work in `/a`: one on `/a/b` or with the new name `n`, the other on `/a/f` or with the new name\n" +
			"`m`. Moves and copies go to two other folders.",
		rows: side("/a/b", "/a", "/d", "n"), columns: side("/a/f", "/a", "/g", "m"),
	}, {
		title: "In one folder, the same new name",
		text: "Both want to be `/a/n`: by creating it, by renaming a neighbour, or by moving or copying something\n" +
			"from elsewhere.",
		rows: wanting("/a/b", "/d/e"), columns: wanting("/a/f", "/g/h"),
	}, {
		title: "On the same node",
		text:  "Both work on `/a/b`: renames to two names, moves and copies to two folders.",
		rows:  onNode(side("/a/b", "/a", "/d", "n")), columns: onNode(side("/a/b", "/a", "/g", "m")),
	}, {
		title: "A folder, and something inside it",
		text: "The row works on the folder `/a`, or puts something into it. The column works on `/a/b/c`, or puts\n" +
			"something into `/a/b`. Moves and copies go to two other folders.",
		rows: outer(), columns: side("/a/b/c", "/a/b", "/g", "m"),
	}, {
		title: "In different folders",
		text:  "One works in `/a` and the other in `/d`; nothing goes from one to the other.",
		rows:  side("/a/b", "/a", "/a/g", "n"), columns: side("/d/e", "/d", "/d/g", "m"),
	}}
}

// outer returns the operations on the folder /a itself, and those that put something into it.
func outer() []driveOperation {
	ops := side("/a", "/", "/d", "n")
	ops[0].spec = lockspec.Insert(at("/a"), called("n"))
	ops[1].spec = lockspec.Slot(at("/a/n"))
	return ops
}

// cell says in one sign who waits for whom.
func cell(t *testing.T, row, column driveOperation) string {
	fine := collide(bound(t, row.spec), bound(t, column.spec))
	coarse := collide(bound(t, row.spec.ParentExclusive()), bound(t, column.spec.ParentExclusive()))
	switch {
	case fine && coarse:
		return "W"
	case coarse:
		return "p"
	case fine:
		t.Errorf("%s and %s wait by the name-slot rule, and not by the parent-exclusive one", row.what, column.what)
	}
	return "·"
}

func writeOperations(t *testing.T, w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	p("<!-- Written by go test ./lockspec -run Documentation -update; a test keeps it current. -->\n")
	p("# Who may run beside whom\n")
	p("[中文](operations.zh-CN.md)\n")
	p("%s\n", introduction)
	p("## What each operation locks\n")
	p("%s\n", whatIsLocked)
	p("| operation | spec | name-slot rule | parent-exclusive rule |")
	p("| --- | --- | --- | --- |")
	for _, o := range driveOperations() {
		fine, coarse := locks(bound(t, o.spec)), locks(bound(t, o.spec.ParentExclusive()))
		if fine == coarse {
			coarse = "the same"
		}
		p("| %s | `%s` | %s | %s |", o.what, o.code, fine, coarse)
	}
	p("\n%s\n", severalTrees)
	p("### The top of a tree\n")
	p("%s\n", theTop)
	p("### A file and a folder of one name\n")
	p("%s\n", oneSlot)
	p("## The matrix\n")
	p("%s", legend)
	for _, s := range situations() {
		p("\n### %s\n", s.title)
		p("%s\n", s.text)
		header, rule := "|  |", "| --- |"
		for _, c := range s.columns {
			header += " " + c.what + " |"
			rule += " :-: |"
		}
		p("%s\n%s", header, rule)
		for _, r := range s.rows {
			line := "| **" + r.what + "** |"
			for _, c := range s.columns {
				line += " " + cell(t, r, c) + " |"
			}
			p("%s", line)
		}
	}
	writeTally(p)
}

func writeTally(p func(string, ...any)) {
	sum := count(smallTree(), pairs())
	p("\n## Is every wait needed?\n")
	p("%s\n", method)
	p("|  | name-slot rule | parent-exclusive rule |")
	p("| --- | --: | --: |")
	fine, coarse := sum.byRule[lockspec.NameSlot], sum.byRule[lockspec.ParentExclusive]
	p("| pairs of operations tried | %d | %d |", sum.pairs-sum.anomalies, sum.pairs-sum.anomalies)
	p("| that can break the tree or lose an update | %d | %d |", sum.bad, sum.bad)
	p("| of these, not kept apart | %d | %d |", fine.missed, coarse.missed)
	p("| that wait for each other | %d | %d |", fine.waits, coarse.waits)
	p("| of these, without need | %d | %d |", fine.needless, coarse.needless)
	p("\n%s\n", fmt.Sprintf(snapshots, sum.anomalies))
	p("Under the name-slot rule these waits remain without need:\n")
	p("| cause | pairs | why they wait all the same | for example |")
	p("| --- | --: | --- | --- |")
	for _, c := range causes {
		example := sum.example[c.name]
		p("| %s | %d | %s | %s, beside %s |", c.name, sum.byCause[c.name], c.why, example.a, example.b)
	}
	p("\n%s", assumptions)
}
