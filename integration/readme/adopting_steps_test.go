package readme

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

var (
	diffBlock  = regexp.MustCompile("(?s)```diff\n(.*?)```")
	hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)
)

// patched applies the hunks of a page, in any order, to a text.
func patched(text string, blocks []string) (string, error) {
	type hunk struct {
		line     int
		old, new []string
	}
	var hunks []hunk
	for _, block := range blocks {
		for line := range strings.Lines(block) {
			if header := hunkHeader.FindStringSubmatch(line); header != nil {
				n, err := strconv.Atoi(header[1])
				if err != nil {
					return "", err
				}
				hunks = append(hunks, hunk{line: n})
				continue
			}
			if len(hunks) == 0 {
				return "", fmt.Errorf("%q comes before the first hunk", line)
			}
			h := &hunks[len(hunks)-1]
			switch content := line[1:]; line[0] {
			case '-':
				h.old = append(h.old, content)
			case '+':
				h.new = append(h.new, content)
			case ' ':
				h.old, h.new = append(h.old, content), append(h.new, content)
			default:
				return "", fmt.Errorf("%q is no line of a hunk", line)
			}
		}
	}
	slices.SortFunc(hunks, func(a, b hunk) int { return b.line - a.line })
	lines := slices.Collect(strings.Lines(text))
	for _, h := range hunks {
		from, to := h.line-1, h.line-1+len(h.old)
		if to > len(lines) || !slices.Equal(lines[from:to], h.old) {
			return "", fmt.Errorf("the hunk at line %d does not fit", h.line)
		}
		lines = slices.Replace(lines, from, to, h.new...)
	}
	return strings.Join(lines, ""), nil
}

// The diff of docs/adopting.md turns the naive program into the adopted one, and leaves out
// nothing.
func TestTheDiffOfThePageIsTheWholeWay(t *testing.T) {
	naive, adopted := readPage(t, filepath.Join("adopting", "naive", "main.go")), readPage(t, filepath.Join("adopting", "adopted", "main.go"))
	for _, page := range []string{"adopting.md", "adopting.zh-CN.md"} {
		text := readPage(t, filepath.Join("..", "..", "docs", page))
		var blocks []string
		var added, removed int
		for _, block := range diffBlock.FindAllStringSubmatch(text, -1) {
			blocks = append(blocks, block[1])
			added += strings.Count("\n"+block[1], "\n+")
			removed += strings.Count("\n"+block[1], "\n-")
		}
		if !regexp.MustCompile(fmt.Sprintf(`\b%d\b\D+\b%d\b`, added, removed)).MatchString(text) {
			t.Errorf("%s does not say that %d lines are added and %d removed", page, added, removed)
		}
		if got, err := patched(naive, blocks); err != nil || got != adopted {
			t.Errorf("%s: the diff does not make the adopted program, error %v", page, err)
		}
	}
}

// The way of docs/adopting.md: a naive wiki has corrupted its tree, and the adopted one refuses to
// start on it. The commands of the page find what is wrong and repair it. Then the adopted wiki
// starts, and its tree stays sound.
func TestTheStepsOfAdopting(t *testing.T) {
	naive, adopted := built(t, filepath.Join("adopting", "naive")), built(t, filepath.Join("adopting", "adopted"))
	cli := built(t, filepath.Join("..", "..", "cmd", "pathlock"))
	if err := os.Symlink(cli, filepath.Join(filepath.Dir(cli), "pathlock")); err != nil {
		t.Fatal(err)
	}
	locks := testserver.Redis(t)
	for _, page := range []string{"adopting.md", "adopting.zh-CN.md"} {
		t.Run(page, func(t *testing.T) {
			file, log := filepath.Join(t.TempDir(), "wiki.db"), filepath.Join(t.TempDir(), "changes.jsonl")
			t.Run("before", func(t *testing.T) {
				w := newWikis(t, run(t, naive, "--sqlite", file), run(t, naive, "--sqlite", file))
				root := w.pages()[0].ID
				for n := 0; !strings.Contains(strings.Join(corruptions(w.pages()), "\n"), "have one name"); n++ {
					w.round(root, n)
				}
			})
			refused := exec.CommandContext(t.Context(), adopted, "--sqlite", file, "--addr", "127.0.0.1:0")
			if out, err := refused.CombinedOutput(); !errors.As(err, new(*exec.ExitError)) || !strings.Contains(string(out), "siblings have the same name") {
				t.Errorf("the adopted program on a tree with twins: %v: %s", err, out)
			}
			found := repairs(t, filepath.Join("..", "..", "docs", page))
			if len(found) != 3 {
				t.Fatalf("the page has the commands %q, want a look, a rehearsal and a repair", found)
			}
			fsck := func(line string, want int) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "changes.jsonl", log))
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(cli)+":"+os.Getenv("PATH"), "PATHLOCK_DB=sqlite://"+file)
				out, err := cmd.CombinedOutput()
				if err != nil && !errors.As(err, new(*exec.ExitError)) {
					t.Fatal(err)
				}
				if code := cmd.ProcessState.ExitCode(); code != want {
					t.Errorf("%sexit code %d, want %d: %s", line, code, want, out)
				}
			}
			fsck(found[0], 4)
			fsck(found[1], 4)
			fsck(found[2], 1)
			fsck(found[0], 0)
			t.Run("after", func(t *testing.T) {
				w := newWikis(t, run(t, adopted, "--sqlite", file), run(t, adopted, "--sqlite", file, "--locks", locks))
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
		})
	}
}
