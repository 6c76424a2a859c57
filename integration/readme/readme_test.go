package readme

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// compiled returns all code that is compiled here.
func compiled(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	testerr.Must(t, err)
	var code strings.Builder
	for _, file := range append(files, filepath.Join("quickstart", "main.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code.WriteString(readPage(t, file))
	}
	return code.String()
}

// Every Go block of the pages is part of a file that is compiled, to the letter. A page shows the
// same code in both languages.
func TestPages_codeCompiles(t *testing.T) {
	code := compiled(t)
	for path, english := range pages(t) {
		var shown [2][]string
		for i, page := range []string{english, readPage(t, translation(path))} {
			for _, block := range goBlock.FindAllStringSubmatch(page, -1) {
				shown[i] = append(shown[i], block[1])
				if !strings.Contains(code, block[1]) {
					t.Errorf("%s, or its translation, shows code that is not compiled here:\n%s", path, block[1])
				}
			}
		}
		if !slices.Equal(shown[0], shown[1]) {
			t.Errorf("%s shows other code than its translation", path)
		}
	}
}
