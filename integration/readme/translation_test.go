package readme

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

const inChinese = ".zh-CN.md"

var (
	codeSpan = regexp.MustCompile("`[^`\n]+`")
	// verbatim matches text that is the same in every language: code, numbers and names of tests.
	verbatim = regexp.MustCompile("`[^`\n]+`|\\bTest[A-Z]\\w+|[0-9][0-9.,]*[0-9]")
	listItem = regexp.MustCompile(`^(-|\d+\.) `)
	remark   = regexp.MustCompile(`\s+# .*`)
	link     = regexp.MustCompile(`\[([^\]]*)\]\(([^)#]*)#?([^)]*)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	unslug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// part is the content below one heading of a page, without its words.
type part struct {
	// blocks are the heading, lists, tables and code blocks in their order: "##", "item", "row of
	// 4", "text of 5 lines". Code is here without the remarks in shell commands. Blocks of text are
	// diagrams and sessions, of which only the commands are here.
	blocks []string
	// verbatim is the text that is the same in every language.
	verbatim map[string]bool
}

// parts splits a page at its headings.
func parts(page string) []part {
	found := []part{{verbatim: map[string]bool{}}}
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		line, current := lines[i], &found[len(found)-1]
		add := func(block string) { current.blocks = append(current.blocks, block) }
		if info, fenced := strings.CutPrefix(line, "```"); fenced {
			count := 0
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				if count++; info != "text" || strings.HasPrefix(lines[i], "$ ") {
					add(remark.ReplaceAllString(lines[i], ""))
				}
			}
			add(fmt.Sprintf("%s of %d lines", info, count))
			continue
		}
		switch {
		case strings.HasPrefix(line, "#"):
			level, _, _ := strings.Cut(line, " ")
			found = append(found, part{[]string{level}, map[string]bool{}})
		case strings.HasPrefix(line, "    "):
			add(line)
		case strings.HasPrefix(line, "|"):
			add(fmt.Sprintf("row of %d", strings.Count(codeSpan.ReplaceAllString(line, ""), "|")-1))
		case listItem.MatchString(line):
			add("item")
		}
		for _, span := range verbatim.FindAllString(line, -1) {
			found[len(found)-1].verbatim[span] = true
		}
	}
	return found
}

// differences lists the differences of two pages that should say the same.
func differences(english, chinese string) (found []string) {
	a, b := parts(english), parts(chinese)
	if len(a) != len(b) {
		return []string{fmt.Sprintf("%d headings, and %d in Chinese", len(a)-1, len(b)-1)}
	}
	for i := range a {
		if !slices.Equal(a[i].blocks, b[i].blocks) {
			found = append(found, fmt.Sprintf("below heading %d are %q, and %q in Chinese", i, a[i].blocks, b[i].blocks))
		}
		for _, span := range slices.Sorted(maps.Keys(a[i].verbatim)) {
			if !b[i].verbatim[span] {
				found = append(found, fmt.Sprintf("below heading %d, %s is missing in Chinese", i, span))
			}
		}
	}
	return found
}

// pages returns the English pages for users, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	testerr.Must(t, err)
	found := map[string]string{}
	for _, path := range append(docs, filepath.Join(root, "README.md")) {
		if !strings.HasSuffix(path, inChinese) {
			found[path] = readPage(t, path)
		}
	}
	return found
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	testerr.Must(t, err)
	return string(text)
}

// translation returns the path of a page's Chinese version.
func translation(path string) string { return strings.TrimSuffix(path, ".md") + inChinese }

// Every page for users has a Chinese version with the same parts, tables and code.
func TestTranslation_saysTheSame(t *testing.T) {
	for path, english := range pages(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, difference := range differences(english, readPage(t, translation(path))) {
				t.Error(difference)
			}
		})
	}
}

// anchors returns the anchors that GitHub makes of a page's headings.
func anchors(text string) map[string]bool {
	found := map[string]bool{"": true}
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		found[strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return found
}

// Readers stay in their language: a page links to its translation above its first part, and a
// Chinese page links to Chinese ones. No link is broken.
func TestTranslation_linksStayInTheLanguage(t *testing.T) {
	for path, english := range pages(t) {
		chinese := readPage(t, translation(path))
		for page, other := range map[string]struct{ text, link string }{
			path:              {english, "[中文](" + filepath.Base(translation(path)) + ")"},
			translation(path): {chinese, "[English](" + filepath.Base(path) + ")"},
		} {
			if top, _, _ := strings.Cut(other.text, "\n## "); !strings.Contains(top, other.link) {
				t.Errorf("%s does not begin with the link %s", page, other.link)
			}
			for _, found := range link.FindAllStringSubmatch(other.text, -1) {
				if strings.Contains(found[2], "://") || found[1] == "English" || found[1] == "中文" {
					continue
				}
				target := filepath.Join(filepath.Dir(page), found[2])
				if found[2] == "" {
					target = page
				}
				if text, err := os.ReadFile(target); err != nil {
					t.Errorf("%s: %v", page, err)
				} else if !anchors(string(text))[found[3]] {
					t.Errorf("%s: %s leads to no heading", page, found[0])
				}
				_, err := os.Stat(translation(target))
				if toChinese := strings.HasSuffix(target, inChinese); !toChinese && err == nil && page != path || toChinese && page == path {
					t.Errorf("%s: %s is a page of the other language", page, found[0])
				}
			}
		}
	}
}

var (
	// behaviour matches a row of the table of behaviours: its file, and what to look for there.
	behaviour = regexp.MustCompile(`(?m)^\| .* \| \[.*\]\((.*)\) \| (?:` + "`(.*)`" + `)? ?\|$`)
	// named matches the name of a test or of a file of Go.
	named = regexp.MustCompile(`\bTest[A-Z]\w+|\b\w+\.go\b`)
)

// sources returns all tests, and the names of all files of Go.
func sources(t *testing.T, root string) (tests string, files map[string]bool) {
	t.Helper()
	var code strings.Builder
	files = map[string]bool{}
	testerr.Must(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		if files[entry.Name()] = true; strings.HasSuffix(path, "_test.go") {
			code.WriteString(readPage(t, path))
		}
		return nil
	}))
	return code.String(), files
}

// CONTRIBUTING.md says where each behaviour is: the files are there, and in them what it names. So
// are the tests, and the files of Go, that it and the pages of proof name.
func TestContributing_leadsToBehaviours(t *testing.T) {
	root := filepath.Join("..", "..")
	page := readPage(t, filepath.Join(root, "CONTRIBUTING.md"))
	for _, found := range link.FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(root, found[2])); err != nil && !strings.Contains(found[2], "://") {
			t.Errorf("%s: %v", found[0], err)
		}
	}
	code, files := sources(t, root)
	for _, path := range []string{"CONTRIBUTING.md", "proof/README.md", "proof/gallery/README.md"} {
		for _, name := range named.FindAllString(readPage(t, filepath.Join(root, path)), -1) {
			if !strings.Contains(code, "\nfunc "+name+"(") && !files[name] {
				t.Errorf("%s names %s, which is not there", path, name)
			}
		}
	}
	rows := behaviour.FindAllStringSubmatch(page, -1)
	for _, row := range rows {
		text := readPage(t, filepath.Join(root, row[1]))
		if there, err := regexp.MatchString(`\bfunc(tion)? (\(.*?\) )?`+row[2]+`\b`, text); row[2] != "" && (err != nil || !there) {
			t.Errorf("%s has no function %s: %v", row[1], row[2], err)
		}
	}
	if len(rows) < 50 {
		t.Errorf("%d behaviours are found", len(rows))
	}
}
