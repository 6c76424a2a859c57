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

// words say the same in each language.
type words [2]string

// The tables on operations say what the code does. They are written by
//
//	go test ./lockspec -run Documentation -update
func TestDocumentationIsCurrent(t *testing.T) {
	for lang, file := range []string{"../docs/middleware.md", "../docs/middleware.zh-CN.md"} {
		page, err := os.ReadFile(file)
		testerr.Must(t, err)
		want := string(page)
		for name, table := range operationTables(t, language(lang)) {
			mark := regexp.MustCompile("(?m)^<!-- " + name + ": .*-->\n\n(?:\\|.*\n)*")
			if len(mark.FindAllString(want, -1)) != 1 {
				t.Fatalf("%s has no one place for the table %s", file, name)
			}
			want = mark.ReplaceAllStringFunc(want, func(old string) string {
				first, _, _ := strings.Cut(old, "\n")
				return first + "\n\n" + table
			})
		}
		sum := count(smallTree(), pairs())
		for _, number := range append([]int{sum.pairs, sum.bad}, slices.Collect(maps.Values(sum.needless))...) {
			if !strings.Contains(want, strconv.Itoa(number)) {
				t.Errorf("%s does not have the number %d", file, number)
			}
		}
		if *update {
			testerr.Must(t, os.WriteFile(file, []byte(want), 0o644))
		} else if want != string(page) {
			t.Errorf("%s is not what the code says: run go test ./lockspec -run Documentation -update", file)
		}
	}
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

// docRow is one operation of a program that keeps a tree, as a row of a table.
type docRow struct {
	what words
	code string
	spec lockspec.Spec
}

func operations() []docRow {
	gate := lockspec.Gate(nodeAt("/"))
	names := lockspec.Names("project", lockspec.Const("42"))
	// nowhere is a source that a request has no value for.
	nowhere := lockspec.JSON("parent_id")
	return []docRow{
		{words{"insert `n` below `/a`", "在 `/a` 下插入 `n`"}, "Insert(parent, name)", lockspec.Insert(nodeAt("/a"), called("n"))},
		{words{"insert `n` at the top", "在顶层插入 `n`"}, "Insert(parent.OrTop(plan), name)", lockspec.Insert(nowhere.OrTop(nodeAt("/")), called("n"))},
		{words{"rename `/a/b` to `n`", "把 `/a/b` 重命名为 `n`"}, "Rename(id, name)", lockspec.Rename(nodeAt("/a/b"), called("n"))},
		{words{"the same, no name in the request", "同上，请求里没有名称"}, "Rename(id, name.Optional())", lockspec.Rename(nodeAt("/a/b"), lockspec.JSON("name").Optional())},
		{words{"move `/a/b` to `/d`", "把 `/a/b` 移到 `/d`"}, "Move(id, dest)", lockspec.Move(nodeAt("/a/b"), nodeAt("/d"))},
		{words{"rename `/a/b` to `n`, then move it, by two statements", "先把 `/a/b` 重命名为 `n`，再移动，用两条语句"}, "All(Rename(id, name), Move(id, dest, name))", lockspec.All(lockspec.Rename(nodeAt("/a/b"), called("n")), lockspec.Move(nodeAt("/a/b"), nodeAt("/d"), called("n")))},
		{words{"copy `/a/b` to `/d` as `n`", "把 `/a/b` 复制到 `/d`，命名为 `n`"}, "Copy(id, dest, name)", lockspec.Copy(nodeAt("/a/b"), nodeAt("/d"), called("n"))},
		{words{"the same, read from one snapshot", "同上，从一个快照读取"}, "Copy(…).SnapshotSource()", lockspec.Copy(nodeAt("/a/b"), nodeAt("/d"), called("n")).SnapshotSource()},
		{words{"delete `/a/b`, also softly", "删除 `/a/b`，包括软删除"}, "Delete(id)", lockspec.Delete(nodeAt("/a/b"))},
		{words{"restore `/a/x`; read, compute and write back", "恢复 `/a/x`；先读、再算、再写回"}, "Slot(id)", lockspec.Slot(nodeAt("/a/x"))},
		{words{"edit what no path depends on", "编辑与路径无关的内容"}, "Edit(id)", lockspec.Edit(nodeAt("/a/f"))},
		{words{"list or export `/a/b`", "列出或导出 `/a/b`"}, "Read(id)", lockspec.Read(nodeAt("/a/b"))},
		{words{"purge what is deleted", "清除已删除的内容"}, "None(reason)", lockspec.None("touches no live path")},
		{words{"any operation on the whole plan", "对整个计划的任何操作"}, "Gate(plan)", gate},
		{words{"create a plan", "新建计划"}, `Names("project", project)`, names},
		{words{"rename or delete a plan", "重命名或删除计划"}, "All(Names(…), Gate(…))", lockspec.All(names, gate)},
	}
}

// side returns the operations on one node, beside it, and into its folder.
func side(node, folder, dest, name string) []docRow {
	return []docRow{
		{what: words{"insert", "插入"}, spec: lockspec.Insert(nodeAt(folder), called(name))},
		{what: words{"restore", "恢复"}, spec: lockspec.Slot(nodeAt(strings.TrimSuffix(folder, "/") + "/" + name))},
		{what: words{"edit", "编辑"}, spec: lockspec.Edit(nodeAt(node))},
		{what: words{"rename", "重命名"}, spec: lockspec.Rename(nodeAt(node), called(name))},
		{what: words{"move", "移动"}, spec: lockspec.Move(nodeAt(node), nodeAt(dest))},
		{what: words{"copy", "复制"}, spec: lockspec.Copy(nodeAt(node), nodeAt(dest), called(name))},
		{what: words{"snapshot copy", "快照复制"}, spec: lockspec.Copy(nodeAt(node), nodeAt(dest), called(name)).SnapshotSource()},
		{what: words{"delete", "删除"}, spec: lockspec.Delete(nodeAt(node))},
		{what: words{"export", "导出"}, spec: lockspec.Read(nodeAt(node))},
		{what: words{"whole plan", "整个计划"}, spec: lockspec.Gate(nodeAt("/"))},
	}
}

// outer returns the operations on the folder /a itself, and those that put something into it.
func outer() []docRow {
	ops := side("/a", "/", "/d", "n")
	ops[0].spec, ops[1].spec = lockspec.Insert(nodeAt("/a"), called("n")), lockspec.Slot(nodeAt("/a/n"))
	return ops
}

// cell says in one sign who waits for whom.
func cell(t *testing.T, row, column docRow) string {
	fine := collide(bound(t, row.spec), bound(t, column.spec))
	coarse := collide(bound(t, row.spec.ParentExclusive()), bound(t, column.spec.ParentExclusive()))
	switch {
	case fine && coarse:
		return "W"
	case coarse:
		return "p"
	case fine:
		t.Errorf("%s and %s wait by the name-slot rule, and not by the parent-exclusive one", row.what[english], column.what[english])
	}
	return "·"
}

// operationTables returns the tables of the page by their names.
func operationTables(t *testing.T, lang language) map[string]string {
	t.Helper()
	var locked strings.Builder
	locked.WriteString([]string{"| operation | spec | locks | without a name |\n", "| 操作 | 规格 | 锁 | 没有名称时 |\n"}[lang])
	locked.WriteString("| --- | --- | --- | --- |\n")
	for _, o := range operations() {
		fine, coarse := locks(lang, bound(t, o.spec)), locks(lang, bound(t, o.spec.ParentExclusive()))
		if fine == coarse {
			coarse = ""
		}
		fmt.Fprintf(&locked, "| %s | `%s` | %s | %s |\n", o.what[lang], o.code, fine, coarse)
	}
	return map[string]string{
		"locks":  locked.String(),
		"node":   matrix(t, lang, side("/a/b", "/a", "/d", "n")[2:], side("/a/b", "/a", "/g", "m")[2:]),
		"folder": matrix(t, lang, outer(), side("/a/b/c", "/a/b", "/g", "m")),
	}
}

// matrix writes who waits for whom.
func matrix(t *testing.T, lang language, rows, columns []docRow) string {
	var b strings.Builder
	header, rule := "| |", "|---|"
	for _, c := range columns {
		header += c.what[lang] + "|"
		rule += ":-:|"
	}
	b.WriteString(header + "\n" + rule + "\n")
	for _, r := range rows {
		b.WriteString("|" + r.what[lang] + "|")
		for _, c := range columns {
			b.WriteString(cell(t, r, c) + "|")
		}
		b.WriteString("\n")
	}
	return b.String()
}
