package lockspec_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
)

var update = flag.Bool("update", false, "write the tables of docs/middleware.md and of its translation anew")

// language is one of those that the tables are written in.
type language int

const (
	english language = iota
	chinese
)

// The tables on operations say what the code does. Their cells, but for those with names, are
// written by
//
//	go test ./lockspec -run Documentation -update
func TestDocumentationIsCurrent(t *testing.T) {
	for lang, file := range []string{"../docs/middleware.md", "../docs/middleware.zh-CN.md"} {
		text, err := os.ReadFile(file)
		testerr.Must(t, err)
		page := fill(t, string(text), "locks", operations(), language(lang), func(o operationRow, cells []string) {
			fine, coarse := locks(language(lang), bound(t, o.spec)), locks(language(lang), bound(t, o.spec.ParentExclusive()))
			if fine == coarse {
				coarse = ""
			}
			cells[2], cells[3] = " "+fine+" ", " "+coarse+" "
		})
		for _, m := range []struct {
			name          string
			rows, columns []operationRow
		}{
			{"node", side("/a/b", "/a", "/d", "n")[2:], side("/a/b", "/a", "/g", "m")[2:]},
			{"folder", outer(), side("/a/b/c", "/a/b", "/g", "m")},
		} {
			page = fill(t, page, m.name, m.rows, language(lang), func(row operationRow, cells []string) {
				for i, column := range m.columns {
					cells[i+1] = cell(t, row, column)
				}
			})
		}
		if *update {
			testerr.Must(t, os.WriteFile(file, []byte(page), 0o644))
		} else if page != string(text) {
			t.Errorf("%s is not what the code says: run go test ./lockspec -run Documentation -update", file)
		}
	}
	text, err := os.ReadFile("../CONTRIBUTING.md")
	testerr.Must(t, err)
	sum := count(pairs())
	for _, number := range append([]int{sum.pairs, sum.bad}, slices.Collect(maps.Values(sum.needless))...) {
		if !strings.Contains(string(text), strconv.Itoa(number)) {
			t.Errorf("CONTRIBUTING.md does not have the number %d", number)
		}
	}
}

// fill sets cells in the rows of the table that has a name in a page. The first cell of a row, or
// the second, has the operation's.
func fill(t *testing.T, page, name string, operations []operationRow, lang language, set func(o operationRow, cells []string)) string {
	t.Helper()
	found := regexp.MustCompile("(?m)^<!-- " + name + ": .*-->\n\n.*\n.*\n((?:\\|.*\n)*)").FindStringSubmatchIndex(page)
	if found == nil {
		t.Fatalf("there is no table %s", name)
	}
	rows := strings.Split(strings.TrimSuffix(page[found[2]:found[3]], "\n"), "\n")
	if len(rows) != len(operations) {
		t.Fatalf("the table %s has %d rows, want %d", name, len(rows), len(operations))
	}
	for i, o := range operations {
		cells := strings.Split(strings.Trim(rows[i], "|"), "|")
		if cells[0] != o.name && cells[1] != " `"+o.name+"` " && lang == english {
			t.Errorf("row %d of the table %s is not that of %s", i, name, o.name)
		}
		set(o, cells)
		rows[i] = "|" + strings.Join(cells, "|") + "|"
	}
	return page[:found[2]] + strings.Join(rows, "\n") + "\n" + page[found[3]:]
}

// nodeAt makes the source of an id, which in the documentation is a path. called makes that of a
// name.
var nodeAt, called = lockspec.Const, lockspec.Const

// bound returns what a spec of constants locks in the tree testplan/plan-001.
func bound(t *testing.T, s lockspec.Spec) []pathlock.Request {
	t.Helper()
	b, err := bind(s, `{}`)
	testerr.Must(t, err)
	return b.Requests
}

// conflict says whether two normalised claim sets cannot be held at once, by the definition:
// incompatible modes on one node of both.
func conflict(a, b []pathlock.Claim) bool {
	return slices.ContainsFunc(a, func(held pathlock.Claim) bool {
		return slices.ContainsFunc(b, func(c pathlock.Claim) bool {
			return c.Path == held.Path && !pathlock.Compatible(held.Mode, c.Mode)
		})
	})
}

// collide says whether two lists of requests cannot be held at once.
func collide(a, b []pathlock.Request) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Tree == y.Tree && (x.Gate || y.Gate || conflict(pathlock.Normalize(x.Claims...), pathlock.Normalize(y.Claims...))) {
				return true
			}
		}
	}
	return false
}

// locks writes for people what requests claim, without the intentions that follow from it.
func locks(lang language, requests []pathlock.Request) string {
	var parts []string
	for _, r := range requests {
		if r.Gate {
			parts = append(parts, fmt.Sprintf([]string{"the gate of `%s`", "`%s` 的闸门"}[lang], r.Tree))
			continue
		}
		for _, c := range pathlock.Normalize(r.Claims...) {
			if slices.ContainsFunc(r.Claims, func(own pathlock.Claim) bool { return own.Path == c.Path }) {
				parts = append(parts, "`"+c.String()+"`")
			}
		}
	}
	if len(parts) == 0 {
		return []string{"nothing", "无"}[lang]
	}
	return strings.Join(parts, []string{", ", "、"}[lang])
}

// operationRow is one operation of a program that keeps a tree, as a row of a table.
type operationRow struct {
	name string
	spec lockspec.Spec
}

func operations() []operationRow {
	gate := lockspec.Gate(nodeAt("/"))
	names := lockspec.Names("project", lockspec.Const("42"))
	// nowhere is a source that a request has no value for.
	nowhere := lockspec.JSON("parent_id")
	return []operationRow{
		{"Insert(parent, name)", lockspec.Insert(nodeAt("/a"), called("n"))},
		{"Insert(parent.OrTop(plan), name)", lockspec.Insert(nowhere.OrTop(nodeAt("/")), called("n"))},
		{"Rename(id, name)", lockspec.Rename(nodeAt("/a/b"), called("n"))},
		{"Rename(id, name.Optional())", lockspec.Rename(nodeAt("/a/b"), lockspec.JSON("name").Optional())},
		{"Move(id, dest)", lockspec.Move(nodeAt("/a/b"), nodeAt("/d"))},
		{"All(Rename(id, name), Move(id, dest, name))", lockspec.All(lockspec.Rename(nodeAt("/a/b"), called("n")), lockspec.Move(nodeAt("/a/b"), nodeAt("/d"), called("n")))},
		{"Copy(id, dest, name)", lockspec.Copy(nodeAt("/a/b"), nodeAt("/d"), called("n"))},
		{"Copy(…).SnapshotSource()", lockspec.Copy(nodeAt("/a/b"), nodeAt("/d"), called("n")).SnapshotSource()},
		{"Delete(id)", lockspec.Delete(nodeAt("/a/b"))},
		{"Slot(id)", lockspec.Slot(nodeAt("/a/x"))},
		{"Edit(id)", lockspec.Edit(nodeAt("/a/f"))},
		{"Read(id)", lockspec.Read(nodeAt("/a/b"))},
		{"None(reason)", lockspec.None("touches no live path")},
		{"Gate(plan)", gate},
		{`Names("project", project)`, names},
		{"All(Names(…), Gate(…))", lockspec.All(names, gate)},
	}
}

// side returns the operations on one node, beside it, and into its folder.
func side(node, folder, dest, name string) []operationRow {
	return []operationRow{
		{"insert", lockspec.Insert(nodeAt(folder), called(name))},
		{"restore", lockspec.Slot(nodeAt(strings.TrimSuffix(folder, "/") + "/" + name))},
		{"edit", lockspec.Edit(nodeAt(node))},
		{"rename", lockspec.Rename(nodeAt(node), called(name))},
		{"move", lockspec.Move(nodeAt(node), nodeAt(dest))},
		{"copy", lockspec.Copy(nodeAt(node), nodeAt(dest), called(name))},
		{"snapshot copy", lockspec.Copy(nodeAt(node), nodeAt(dest), called(name)).SnapshotSource()},
		{"delete", lockspec.Delete(nodeAt(node))},
		{"export", lockspec.Read(nodeAt(node))},
		{"whole plan", lockspec.Gate(nodeAt("/"))},
	}
}

// outer returns the operations on the folder /a itself, and those that put something into it.
func outer() []operationRow {
	ops := side("/a", "/", "/d", "n")
	ops[0].spec, ops[1].spec = lockspec.Insert(nodeAt("/a"), called("n")), lockspec.Slot(nodeAt("/a/n"))
	return ops
}

// cell says in one sign who waits for whom.
func cell(t *testing.T, row, column operationRow) string {
	fine := collide(bound(t, row.spec), bound(t, column.spec))
	coarse := collide(bound(t, row.spec.ParentExclusive()), bound(t, column.spec.ParentExclusive()))
	switch {
	case fine && coarse:
		return "W"
	case coarse:
		return "p"
	case fine:
		t.Errorf("%s and %s wait by the name-slot rule, and not by the parent-exclusive one", row.name, column.name)
	}
	return "·"
}
