package lockspec_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The prose of docs/operations.zh-CN.md is written by hand, and its tables are those of the English
// page, cell by cell, in the words of this glossary.
var glossary = map[string]string{
	"operation":                        "操作",
	"spec":                             "规格",
	"name-slot rule":                   "名称占位规则",
	"parent-exclusive rule":            "父节点独占规则",
	"the same":                         "同左",
	"nothing":                          "无",
	"the gate of `project/42`":         "`project/42` 的闸门",
	"the gate of `testplan/plan-001`":  "`testplan/plan-001` 的闸门",
	"new folder `n` in `/a`":           "在 `/a` 里新建文件夹 `n`",
	"upload of a new file `n` to `/a`": "上传新文件 `n` 到 `/a`",
	"new folder in `/a` whose name the handler chooses":       "在 `/a` 里新建文件夹，名称由处理函数决定",
	"new folder `n` at the top, in a plan without a root row": "在没有根行的计划的顶层新建文件夹 `n`",
	"upload over the file `/a/f` (a new version)":             "上传覆盖文件 `/a/f`（新版本）",
	"rename of `/a/b` to `n`":                                 "把 `/a/b` 重命名为 `n`",
	"the same route, without a new name in the request":       "同一路由，请求里没有新名称",
	"move of `/a/b` to `/d`":                                  "把 `/a/b` 移到 `/d`",
	"move of `/a/b` to `/d` as `n`":                           "把 `/a/b` 移到 `/d`，改名为 `n`",
	"move of `/a/b` to the top":                               "把 `/a/b` 移到顶层",
	"copy of `/a/b` to `/d` as `n`":                           "把 `/a/b` 复制到 `/d`，命名为 `n`",
	"the same, read from one snapshot":                        "同上，从同一个快照读取",
	"delete of `/a/b` (to the recycle bin)":                   "删除 `/a/b`（放入回收站）",
	"restore of `/a/x` from the recycle bin":                  "从回收站恢复 `/a/x`",
	"purge of the recycle bin":                                "清空回收站",
	"list or export of the subtree `/a/b`":                    "列出或导出子树 `/a/b`",
	"change of `/a/f` that reads, thinks and writes back":     "先读、再算、再写回 `/a/f`",
	"anything with the whole plan":                            "对整个计划的任何操作",
	"new plan":                                                "新建计划",
	"rename or delete of a plan":                              "重命名或删除计划",

	"insert":        "新建",
	"restore":       "恢复",
	"edit":          "编辑",
	"rename":        "重命名",
	"move":          "移动",
	"copy":          "复制",
	"snapshot copy": "快照复制",
	"delete":        "删除",
	"export":        "导出",
	"whole plan":    "整个计划",

	"pairs of operations tried":                 "试过的操作对",
	"that can break the tree or lose an update": "可能破坏树或丢失更新的",
	"of these, not kept apart":                  "其中没有被锁隔开的",
	"that wait for each other":                  "互相等待的",
	"of these, without need":                    "其中不必要的",

	"cause":                      "原因",
	"pairs":                      "对数",
	"why they wait all the same": "为什么仍要等待",
	"for example":                "例如",

	"the name is taken":           "名称已被占用",
	"nothing to do":               "无事可做",
	"the whole plan":              "整个计划",
	"the other one is gone":       "对方的节点已不存在",
	"attributes of a moving node": "正在移动的节点的属性",
	"the same change twice":       "同样的修改做了两次",
	"a node without children":     "没有子节点的节点",

	"new folder n in /a": "在 /a 里新建文件夹 n",
	"copy /a to /a as f": "把 /a 复制到 /a，命名为 f",
	"rename /a to a":     "把 /a 重命名为 a",
	"edit /a":            "编辑 /a",
	"delete the plan":    "删除计划",
	"delete /a":          "删除 /a",
	"rename /a to n":     "把 /a 重命名为 n",
	"delete /a/b/c":      "删除 /a/b/c",
	causes[0].why:        "已有同名的兄弟节点，所以两者之一会被拒绝，什么也不写。它在得出这个结论的过程中持有锁，也必须持有：没有锁，结论就可能是错的。",
	causes[1].why:        "两者之一把节点重命名为它现有的名称，或移动到它现在的位置。它只锁这个节点，但是独占：同一个请求很可能还会修改该节点的其他内容。",
	causes[2].why:        "闸门排斥所有操作，不论做什么，这正是它的用途；不需要整个计划的操作，应换用别的规格。",
	causes[3].why:        "两者之一删除了对方要操作的节点，或把它移出回收站。对方找不到这一行，便如实返回，就像它本来就排在后面。这要靠处理函数检查受影响的行数，锁不依赖这一点。",
	causes[4].why:        "两者之一修改与路径无关的属性，另一个重命名或移动该节点或它上方的节点。它们写的是不同的列，而锁不了解列：X 独占其下的一切。好处是，编辑的响应里的路径就是节点当时的路径。",
	causes[5].why:        "两者把同一个节点以同一个名称放到同一个位置，例如按钮被点了两次。",
	causes[6].why:        "两者之一重命名、移动或删除一个其下没有内容的节点，另一个修改该节点或它上方的节点，涉及的是同一行。这一行按 id 写入，后写者生效。但凡有一个子节点，它的路径就会被漏掉；而有没有子节点，在持有锁之前无从知道。",
}

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	commas   = strings.NewReplacer("`, ", "`、", "**, ", "**、")
	anyWord  = regexp.MustCompile(`[a-z]{2}`)
)

// chinese returns a cell of a table in Chinese. What has no words outside of code stays as it is.
func chinese(t *testing.T, cell string, used map[string]bool) string {
	t.Helper()
	if !anyWord.MatchString(codeSpan.ReplaceAllString(cell, "")) {
		return commas.Replace(cell)
	}
	if word, ok := glossary[cell]; ok {
		used[cell] = true
		return word
	}
	if word, ok := strings.CutPrefix(cell, "**"); ok {
		return "**" + chinese(t, strings.TrimSuffix(word, "**"), used) + "**"
	}
	for _, between := range []struct{ english, chinese string }{{", beside ", "；同时"}, {", ", "、"}} {
		if before, after, ok := strings.Cut(cell, between.english); ok {
			return chinese(t, before, used) + between.chinese + chinese(t, after, used)
		}
	}
	t.Errorf("the glossary has no Chinese for %q", cell)
	return cell
}

// tables returns where the tables of a page begin and end, in lines.
func tables(lines []string) (found [][2]int) {
	for i, line := range lines {
		switch {
		case !strings.HasPrefix(line, "|"):
		case len(found) > 0 && found[len(found)-1][1] == i:
			found[len(found)-1][1]++
		default:
			found = append(found, [2]int{i, i + 1})
		}
	}
	return found
}

// inChinese returns the Chinese page with the tables of the English one.
func inChinese(t *testing.T, page, english string) string {
	t.Helper()
	lines, model, used := strings.Split(page, "\n"), strings.Split(english, "\n"), map[string]bool{}
	here, there := tables(lines), tables(model)
	if len(here) != len(there) {
		t.Fatalf("the Chinese page has %d tables, the English one %d", len(here), len(there))
	}
	for n, table := range slices.Backward(here) {
		var rows []string
		for _, row := range model[there[n][0]:there[n][1]] {
			cells := strings.Split(row, " | ")
			for i, cell := range cells {
				edge := strings.TrimSuffix(strings.TrimPrefix(cell, "| "), " |")
				if edge = strings.TrimSpace(edge); edge != "" && edge != "|" {
					cells[i] = strings.Replace(cell, edge, chinese(t, edge, used), 1)
				}
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
		lines = slices.Replace(lines, table[0], table[1], rows...)
	}
	for word := range glossary {
		if !used[word] {
			t.Errorf("the glossary has %q, which is in no table", word)
		}
	}
	return strings.Join(lines, "\n")
}
