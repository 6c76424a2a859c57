package gallery

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

var (
	report  = regexp.MustCompile(`([\w.-]+/[\w.-]+)#(\d+)`)
	capital = regexp.MustCompile(`[A-Z]`)
)

// TestPage_listsTheTests: the page's table is that of the tests, in their order. Their comments say
// who: what happens there; what happens here.
func TestPage_listsTheTests(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "gallery_test.go", nil, parser.ParseComments)
	testerr.Must(t, err)
	table := "| --- | --- | --- | --- | --- |\n"
	for _, d := range file.Decls {
		test, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(test.Name.Name, "TestGallery_") {
			continue
		}
		failure := capital.ReplaceAllStringFunc(strings.TrimPrefix(test.Name.Name, "TestGallery_"), func(c string) string { return " " + strings.ToLower(c) })
		who, what, _ := strings.Cut(strings.TrimSuffix(strings.Join(strings.Fields(test.Doc.Text()), " "), "."), ": ")
		there, here, _ := strings.Cut(what, "; ")
		who = report.ReplaceAllString(who, "[$1#$2](https://github.com/$1/issues/$2)")
		table += fmt.Sprintf("| %s | %s | %s | %s | `%s` |\n", failure, who, there, here, test.Name)
	}
	page, err := os.ReadFile("README.md")
	testerr.Must(t, err)
	if !strings.HasSuffix(string(page), table) {
		t.Errorf("the table is to be\n%s", table)
	}
}
