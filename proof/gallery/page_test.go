package gallery

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

var (
	report = regexp.MustCompile(`([\w.-]+/[\w.-]+)#(\d+)`)
	upper  = regexp.MustCompile(`[A-Z]`)
	named  = regexp.MustCompile("`(TestGallery_\\w+)`")
)

// row is a test's line of the page, from its comment: who: what happens there; what happens here.
func row(test *ast.FuncDecl) string {
	who, what, _ := strings.Cut(strings.TrimSuffix(strings.Join(strings.Fields(test.Doc.Text()), " "), "."), ": ")
	there, here, _ := strings.Cut(what, "; ")
	who = report.ReplaceAllString(who, "[$1#$2](https://github.com/$1/issues/$2)")
	failure := upper.ReplaceAllStringFunc(strings.TrimPrefix(test.Name.Name, "TestGallery_"), func(c string) string { return " " + strings.ToLower(c) })
	return fmt.Sprintf("| %s | %s | %s | %s | `%s` |", failure, who, there, here, test.Name)
}

// TestPage_listsTheTests compares the page's table with the tests, in their order.
func TestPage_listsTheTests(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "gallery_test.go", nil, parser.ParseComments)
	testerr.Must(t, err)
	var rows, tests []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "TestGallery_") {
			rows, tests = append(rows, row(f)), append(tests, f.Name.Name)
		}
	}
	for _, page := range []string{"../../docs/gallery.md", "../../docs/gallery.zh-CN.md"} {
		text, err := os.ReadFile(page)
		testerr.Must(t, err)
		var found []string
		for _, name := range named.FindAllStringSubmatch(string(text), -1) {
			found = append(found, name[1])
		}
		if !slices.Equal(found, tests) {
			t.Errorf("%s lists %q, and the tests are %q", page, found, tests)
		}
		if table := strings.Join(rows, "\n"); !strings.Contains(page, "zh-CN") && !strings.Contains(string(text), table) {
			t.Errorf("the table of %s is to be\n%s", page, table)
		}
	}
}
