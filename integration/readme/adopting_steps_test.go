package readme

import (
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

var (
	diffBlock = regexp.MustCompile("(?s)```diff\n(.*?)```")
	hunkTitle = regexp.MustCompile(`(?m)^@@ .* @@\n`)
)

// The diffs of the pages are parts of the way from the naive program to the adopted one: the lines
// before stand in the one, and the lines after in the other, together and once.
func TestTheDiffsOfThePagesAreTrue(t *testing.T) {
	naive, adopted := readPage(t, filepath.Join("adopting", "naive", "main.go")), readPage(t, filepath.Join("adopting", "adopted", "main.go"))
	for _, page := range []string{"README.md", "README.zh-CN.md", "docs/adopting.md", "docs/adopting.zh-CN.md"} {
		found := diffBlock.FindAllStringSubmatch(readPage(t, filepath.Join("..", "..", page)), -1)
		if len(found) == 0 {
			t.Errorf("%s shows no diff", page)
		}
		for _, block := range found {
			for _, hunk := range hunkTitle.Split(block[1], -1)[1:] {
				var before, after strings.Builder
				for line := range strings.Lines(hunk) {
					if line[0] != '+' {
						before.WriteString(line[1:])
					}
					if line[0] != '-' {
						after.WriteString(line[1:])
					}
				}
				if before.Len() > 0 && strings.Count(naive, before.String()) != 1 || strings.Count(adopted, after.String()) != 1 {
					t.Errorf("%s shows a change that is none:\n%s", page, hunk)
				}
			}
		}
	}
}

// The way of docs/adopting.md: a naive wiki has corrupted its tree, and the adopted one refuses to
// start on it. The commands of the page find what is wrong and repair it. Then the adopted wiki
// starts, and its tree stays sound.
func TestTheStepsOfAdopting(t *testing.T) {
	naive, adopted, locks := wiki(t, "naive"), wiki(t, "adopted"), testserver.Redis(t)
	file, log := filepath.Join(t.TempDir(), "wiki.db"), filepath.Join(t.TempDir(), "changes.jsonl")
	t.Run("before", func(t *testing.T) {
		w := &wikis{t, []string{program.Serve(t, naive, "--sqlite", file), program.Serve(t, naive, "--sqlite", file)}}
		root := w.pages()[0].ID
		for n := 0; !strings.Contains(strings.Join(corruptions(w.pages()), "\n"), "have one name"); n++ {
			w.round(root, n)
		}
	})
	refused := exec.CommandContext(t.Context(), adopted, "--sqlite", file, "--addr", "127.0.0.1:0")
	if out, err := refused.CombinedOutput(); !errors.As(err, new(*exec.ExitError)) || !strings.Contains(string(out), "rename siblings of one name") {
		t.Errorf("the adopted program on a tree with twins: %v: %s", err, out)
	}
	found := repairs(t, "adopting.md")
	fsck := func(line string, want int) {
		t.Helper()
		if code, out := inShell(t, strings.ReplaceAll(line, "changes.jsonl", log), "PATHLOCK_DB=sqlite://"+file); code != want {
			t.Errorf("%sexit code %d, want %d: %s", line, code, want, out)
		}
	}
	fsck(found[0], 4)
	fsck(found[1], 4)
	fsck(found[2], 1)
	fsck(found[0], 0)
	t.Run("after", func(t *testing.T) {
		w := &wikis{t, []string{program.Serve(t, adopted, "--sqlite", file), program.Serve(t, adopted, "--sqlite", file, "--locks", locks)}}
		root := w.pages()[0].ID
		for n := range 10 {
			w.round(root, 1000+n)
		}
		if wrong := corruptions(w.pages()); len(wrong) > 0 {
			t.Errorf("wrong is %q", wrong)
		}
	})
	fsck(found[0], 0)
	if changes := readPage(t, log); !strings.Contains(changes, "name") {
		t.Errorf("the log of the repair is %q", changes)
	}
}
